import HTTP2Transport
import Testing

@testable import PushGateway

/// The worker of the device in a browser, with its modules in one script.
@Suite struct WorkerScriptTests {
  private static let files = [
    "worker.js": "import { a, b } from \"./one.js\";\nimport { c } from \"./two-3.js\";\naddEventListener(a, b, c);\n",
    "one.js": "import { c } from \"./two-3.js\";\nexport const a = `\nexported ${c}`;\nexport async function b() {}\n",
    "two-3.js": "const own = 1;\nexport class c {}\nexport function* $d(own) {}",
  ]

  @Test func `each module is a function, once and before its first use`() {
    let script = WorkerScript("worker.js") { WorkerScriptTests.files[String($0)] ?? "" }
    #expect(
      script.text == """
        const two_3_js = (() => {
        const own = 1;
        class c {}
        function* $d(own) {}
        return { c, $d };
        })();
        const one_js = (() => {
        const { c } = two_3_js;
        const a = `
        exported ${c}`;
        async function b() {}

        return { a, b };
        })();
        const { a, b } = one_js;
        const { c } = two_3_js;
        addEventListener(a, b, c);


        """)
  }

  @Test func `the served worker has no import and no export, and the decryption once`() throws {
    let response = try #require(WebFiles.response("phone/worker.js", to: BrowserFields()))
    let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
    #expect(lines.allSatisfy { !$0.hasPrefix("import ") && !$0.hasPrefix("export ") })
    #expect(lines.filter { $0.hasPrefix("async function decrypt(") }.count == 1)
    #expect(lines.contains("const webpush_js = (() => {"))
  }
}
