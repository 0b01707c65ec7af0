import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct ControlJSONTests {
  struct Requested: Codable {
    var name: String
    var count: Int
  }

  func decode(_ text: String) -> (value: Requested?, detail: String) {
    let message = SampleRequest().message
    message.maximumBodySize = .max
    message.keepBody(Array(text.utf8))
    do throws(Problem) {
      return (try ControlRequest(message, from: .loopback).decoded(Requested.self), "")
    } catch {
      return (nil, error.detail)
    }
  }

  @Test func `keys are in order and slashes are plain`() {
    #expect(String(decoding: controlJSON(["b": "x/y", "a": "é"]), as: UTF8.self) == #"{"a":"é","b":"x/y"}"#)
  }

  @Test func `a body is decoded`() {
    #expect(decode(#"{"name":"a","count":3,"more":true}"#).value?.count == 3)
  }

  @Test(arguments: [
    (#"{"name":"a"}"#, #""count" is missing"#), (#"{"name":"a","count":"3"}"#, #""count" has the wrong type"#),
    (#"{"name":null,"count":3}"#, #""name" has the wrong type"#),
    ("{", "the body is not JSON: line 1, column 2: unexpected end of the text"),
    ("", "the body is not JSON: it is empty"),
  ])
  func `what is wrong with a body is said in words`(_ body: String, _ words: String) {
    let decoded = decode(body)
    #expect(decoded.value == nil)
    #expect(decoded.detail.contains(words))
  }

  @Test func `a problem is problem details`() {
    let response = Problem.notFound("unknown path /x").response
    #expect(response.status == 404)
    #expect("\(response.contentType)" == "application/problem+json")
    #expect(
      String(decoding: response.body, as: UTF8.self)
        == #"{"detail":"unknown path /x","status":404,"title":"Not Found"}"#
    )
  }
}
