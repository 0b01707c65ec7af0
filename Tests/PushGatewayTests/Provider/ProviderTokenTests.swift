import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct ProviderTokenTests {
  let folder: TemporaryFolder
  let registrations: SQLiteRegistrations
  let cache: ProviderTokenCache
  let key: ES256Key
  let parser = JSONParser()

  init() async throws {
    folder = try TemporaryFolder()
    registrations = try SQLiteRegistrations(store: SQLiteStore(path: folder.file("push.sqlite")))
    cache = ProviderTokenCache(registrations: registrations)
    key = try ES256Key.generate()
    try await registrations.addTeam("TEAM000001")
    try await registrations.addKey(
      ProviderKey(id: "ABC123DEFG", team: "TEAM000001", publicKey: key, environment: nil, topics: nil))
  }

  /// Returns the verified token, or the rejection.
  func verify(_ text: String) -> Result<ProviderToken, Rejection> {
    do throws(Rejection) {
      return .success(try cache.token(Array(text.utf8), parser: parser))
    } catch {
      return .failure(error)
    }
  }

  func isRefused(_ text: String) -> Bool {
    guard case .failure(let rejection) = verify(text) else { return false }
    return rejection.reason == .invalidProviderToken
  }

  func verify(_ change: (inout TokenRecipe) -> Void) throws -> Result<ProviderToken, Rejection> {
    var recipe = TokenRecipe()
    change(&recipe)
    return verify(try recipe.text(by: key))
  }

  @Test func `a token names its key and its time`() throws {
    let token = try verify { _ in }.get()
    #expect(token.key.id == "ABC123DEFG")
    #expect(token.issued == 1_800_000_000)
  }

  @Test(arguments: [TokenRecipe.Signature.raw, .der], [TokenRecipe.Alphabet.url, .plainWithPadding])
  func `both signatures and both alphabets are accepted`(
    _ signature: TokenRecipe.Signature, _ alphabet: TokenRecipe.Alphabet
  ) throws {
    for number in 0..<20 {
      let token = try verify { recipe in
        recipe.signature = signature
        recipe.alphabet = alphabet
        recipe.claims = #"{"iss":"TEAM000001","iat":1800000000,"x":"\#(number) ÿ?>"}"#
      }
      #expect(try token.get().issued == 1_800_000_000)
    }
  }

  @Test(arguments: [
    #"{"iss":"TEAM000001","iat":"1800000000"}"#, #"{"iss":"TEAM000001","iat":1800000000.75}"#,
    #"{"iss":"TEAM000001","iat":1.8e9}"#, #"{"iss":"TEAM000001","iat":"1800000000.5"}"#,
    "{\n  \"iat\" : 1800000000,\r\n\t\"iss\" : \"TEAM000001\"\n}\n",
    #"{"iss":"TEAM000001","iat":1800000000,"exp":1,"nbf":9e9,"jti":"a","aud":["b"],"kid":"ABC123DEFG","sub":"x"}"#,
  ])
  func `claims as real libraries write them are accepted`(_ claims: String) throws {
    #expect(try verify { $0.claims = claims }.get().issued == 1_800_000_000)
  }

  @Test(arguments: [
    #"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#, "{ \"kid\":\"ABC123DEFG\",\n\"alg\":\"ES256\" }",
  ])
  func `headers as real libraries write them are accepted`(_ header: String) throws {
    _ = try verify { $0.header = header }.get()
  }

  @Test(arguments: [
    #"{"alg":"ES512","kid":"ABC123DEFG"}"#, #"{"alg":"ES384","kid":"ABC123DEFG"}"#,
    #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"ABC123DEFH"}"#, #"{"alg":"none","kid":"ABC123DEFG"}"#,
    #"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"kid":"ABC123DEFG"}"#, #"{"alg":"ES256","kid":123}"#, "[]", "",
    #"{"alg":"ES256","kid":"abc123defg"}"#, #"{"alg":"ES256","kid":"ABC123DEFG"#,
  ])
  func `another header is InvalidProviderToken`(_ header: String) throws {
    var recipe = TokenRecipe()
    recipe.header = header
    #expect(isRefused(try recipe.text(by: key)))
  }

  @Test(arguments: [
    #"{"iat":1800000000}"#, #"{"iss":"TEAM000002","iat":1800000000}"#, #"{"iss":"TEAM000001"}"#,
    #"{"iss":"TEAM000001","iat":"today"}"#, #"{"iss":"TEAM000001","iat":"nan"}"#, #"{"iss":"TEAM000001","iat":"inf"}"#,
    #"{"iss":"TEAM000001","iat":1e300}"#, #"{"iss":"TEAM000001","iat":-9223372036854775808}"#,
    #"{"iss":"TEAM000001","iat":-9223372036854773760}"#, #"{"iss":"TEAM000001","iat":"-9223372036854775808"}"#,
    #"{"iss":"TEAM000001","iat":9223372036854775807}"#, #"{"iss":"TEAM000001","iat":9007199254740994}"#,
    #"{"iss":"TEAM000001","iat":-1}"#, #"{"iss":"TEAM000001","iat":null}"#, #"{"iss":["TEAM000001"],"iat":1}"#,
    "[]", "null", "",
  ])
  func `other claims are InvalidProviderToken`(_ claims: String) throws {
    var recipe = TokenRecipe()
    recipe.claims = claims
    #expect(isRefused(try recipe.text(by: key)))
  }

  @Test(arguments: ["", ".", "..", "a.b.c", "a.b", "a.b.c.d", "é.é.é", "e30.e30.e30"])
  func `what is no token is InvalidProviderToken`(_ text: String) {
    #expect(isRefused(text))
  }

  @Test func `one changed character anywhere is InvalidProviderToken`() throws {
    let text = Array(try TokenRecipe().text(by: key).utf8)
    for place in text.indices {
      // The last character of a segment has unused bits.
      if place + 1 == text.count || text[place + 1] == UInt8(ascii: ".") { continue }
      var forged = text
      forged[place] = text[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(isRefused(String(decoding: forged, as: UTF8.self)), "character \(place)")
    }
  }

  @Test func `another key's signature is InvalidProviderToken`() throws {
    #expect(isRefused(try TokenRecipe().text(by: ES256Key.generate())))
  }

  @Test func `a removed key's tokens are refused, and accepted again with the key`() async throws {
    let text = try TokenRecipe().text(by: key)
    _ = try verify(text).get()
    try await registrations.removeKey("ABC123DEFG")
    #expect(isRefused(text))
    #expect(isRefused(text))
    try await registrations.addKey(
      ProviderKey(id: "ABC123DEFG", team: "TEAM000001", publicKey: key, environment: .production, topics: nil))
    #expect(try verify(text).get().key.environment == .production)
  }

  @Test(
    arguments: [
      (0, nil), (59 * 60 + 30, nil), (3600, nil), (3601, .expiredProviderToken), (61 * 60, .expiredProviderToken),
      (-300, nil), (-301, .invalidProviderToken),
    ] as [(Int64, Reason?)])
  func `a token lasts an hour, and a clock may be five minutes ahead`(_ age: Int64, _ reason: Reason?) throws {
    let token = try verify { _ in }.get()
    let rejection = rejection { () throws(Rejection) in try token.checkAge(now: 1_800_000_000 + age) }
    #expect(rejection?.reason == reason)
  }
}
