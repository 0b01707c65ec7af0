/// The description of the test API as an OpenAPI 3.1 document.
enum OpenAPI {
  /// Returns the document of some routes.
  ///
  /// - Parameter schemas: the schemas to which `$ref` refers, by their names.
  static func document(_ routes: [TestRoute], schemas: [String: JSONValue]) -> JSONValue {
    var paths: [String: [String: JSONValue]] = [:]
    for route in routes { paths[route.path, default: [:]][route.method.lowercased()] = operation(route) }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "PushGateway test API", "version": "1",
        "description": "Served by `pushcli serve --test` over HTTP/1.1 and HTTP/2 on loopback.",
      ],
      "paths": .object(paths.mapValues { .object($0) }),
      "components": ["schemas": .object(schemas)],
    ]
  }

  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

  private static func operation(_ route: TestRoute) -> JSONValue {
    var members: [String: JSONValue] = ["summary": .string(route.summary)]
    let parameters = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part -> JSONValue in
      [
        "name": .string(String(part.dropFirst().prefix { $0 != "}" })), "in": "path", "required": true,
        "schema": ["type": "string"],
      ]
    }
    let query = route.query.map { parameter -> JSONValue in
      [
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.description),
        "schema": parameter.schema,
      ]
    }
    if !(parameters + query).isEmpty { members["parameters"] = .array(parameters + query) }
    if let body = route.body { members["requestBody"] = ["content": ["application/json": ["schema": body]]] }
    var answers: [String: JSONValue] = [:]
    for answer in route.answers {
      var members: [String: JSONValue] = ["description": .string(answer.description)]
      if let schema = answer.schema { members["content"] = ["application/json": ["schema": schema]] }
      answers[String(answer.status)] = .object(members)
    }
    answers["default"] = [
      "description": "a problem", "content": ["application/problem+json": ["schema": reference("Problem")]],
    ]
    members["responses"] = .object(answers)
    return .object(members)
  }
}
