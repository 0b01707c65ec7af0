import Testing

@testable import PushGateway

@Suite struct SystemLibraryTests {
  @Test(arguments: SystemLibrary.allCases) func `every library tells its version`(_ library: SystemLibrary) {
    let numbers = library.version.split(separator: ".").compactMap { Int($0) }
    #expect(numbers.count >= 2 && numbers[0] > 0, "\(library.version)")
  }

  @Test func `another patch of a version that was tested is no surprise, and another version is said`() throws {
    for library in SystemLibrary.allCases {
      let tested = try #require(library.tested.last)
      let parts = tested.split(separator: ".").compactMap { Int($0) }
      #expect(library.warning(about: tested) == nil)
      #expect(library.warning(about: "\(parts[0]).\(parts[1]).999") == nil)
      for other in ["\(parts[0]).\(parts[1] + 1).0", "\(parts[0] + 1).\(parts[1]).0", "unknown"] {
        let warning = try #require(library.warning(about: other))
        #expect(warning.contains(library.rawValue) && warning.contains(other) && warning.contains(tested))
      }
      #expect(library.package.contains(tested))
    }
  }

  @Test func `docs: the tested versions`() throws {
    let rows = SystemLibrary.allCases.map {
      "| `\($0.rawValue)` | \($0.tested.joined(separator: ", ")) | `\($0.package)` |"
    }
    try DocumentedTable(page: "internals/dependencies.md", header: "| library | tested | Debian's package |").expect(
      rows)
  }
}
