import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// Compares the pictures of README and docs with the files in `docs/pictures`, which were reviewed when they were
/// added.
///
/// `make pictures` writes them again (`PUSHGATEWAY_PICTURES=write`): review the changes in a browser.
@Suite struct PictureTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardizedFileURL
  private static let folder = root.appending(path: "docs/pictures")

  static var files: [(name: String, file: PictureFile, scheme: PictureScheme)] {
    PictureScheme.all.flatMap { scheme in
      PictureScenes(appearance: scheme.appearance).files.map {
        ("\($0.name)-\(scheme.appearance.rawValue).svg", $0.file, scheme)
      }
    }
  }

  @Test func `the pictures show what the program draws now`() throws {
    for (name, file, scheme) in Self.files {
      let (url, drawn) = (Self.folder.appending(path: name), file.svg(scheme))
      if ProcessInfo.processInfo.environment["PUSHGATEWAY_PICTURES"] == "write" {
        try Data(drawn.utf8).write(to: url)
      } else {
        let kept = try? String(contentsOf: url, encoding: .utf8)
        #expect(kept == drawn, "\(name) is not what the program draws: `make pictures`, and look at it")
      }
    }
    let kept = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(kept) == Set(Self.files.map(\.name)))
  }

  @Test func `what a picture shows depends on no font: no emoji, no signs, each line of letters in one piece`() {
    for (name, file, scheme) in Self.files {
      for scene in file.windows.flatMap(\.scenes) {
        let picture = Picture(frame: scene.frame, scheme: scheme)
        #expect(picture.unknownSigns.isEmpty, "\(name)")
        let runs = picture.runs
        for (run, next) in zip(runs, runs.dropFirst()) where run.row == next.row {
          let isSame = scheme.ink(run.style) == scheme.ink(next.style) && run.style.isBold == next.style.isBold
          #expect(!isSame || next.column > run.column + run.text.count + 1, "\(name): \(run.text)|\(next.text)")
        }
      }
      let drawn = file.svg(scheme)
      let texts = drawn.matches(of: /<text [^>]*>([^<]*)<\/text>/).map { String($0.1) }
      #expect(!texts.isEmpty && texts.joined().allSatisfy(Picture.isLetter), "\(name)")
      #expect(XMLCheck(drawn).isWellFormed, "\(name)")
    }
  }

  @Test func `README and docs show each picture in both appearances, with words for those who don't see it`() throws {
    let pages = ["README.md", "docs/receive/terminal.md"].map { Self.root.appending(path: $0) }
    let text = try pages.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    for name in Set(Self.files.map { $0.name.split(separator: "-").dropLast().joined(separator: "-") }) {
      #expect(text.contains("pictures/\(name)-dark.svg") && text.contains("pictures/\(name)-light.svg"), "\(name)")
    }
    for image in text.matches(of: /<img [^>]*>/) { #expect(image.0.contains("alt=\"")) }
  }

  @Test func `of a moving picture one scene of each window is there at any time`() throws {
    let moving = Self.files.filter { $0.file.duration > 0 }
    #expect(moving.count == 2)
    for (name, file, scheme) in moving {
      for window in file.windows {
        let begins = window.scenes.map(\.begin)
        #expect(begins.first == 0 && begins == begins.sorted() && Set(begins).count == begins.count, "\(name)")
        #expect(try #require(begins.last) < file.duration)
        #expect(
          window.scenes.allSatisfy { $0.frame.size == window.size } && window.scenes.indices.contains(window.still))
      }
      #expect(file.svg(scheme).contains("prefers-reduced-motion"))
    }
  }

  @Test func `an outline goes round a part once, its holes are painted after it`() {
    let (red, blue) = (Color(160), Color(26))
    let size = Size(columns: 5, rows: 4)
    var colors: [Color?] = Array(repeating: nil, count: 20)
    for row in 0..<3 { for column in 1..<4 { colors[row * 5 + column] = red } }
    colors[1 * 5 + 2] = blue
    let outlines = PictureRegions(size: size, colors: colors).outlines
    func corner(_ column: Int, _ row: Int) -> PictureRegions.Corner { .init(column: column, row: row) }
    #expect(
      outlines == [
        .init(color: red, corners: [corner(1, 0), corner(4, 0), corner(4, 3), corner(1, 3)]),
        .init(color: blue, corners: [corner(2, 1), corner(3, 1), corner(3, 2), corner(2, 2)]),
      ])
    // A step, and two cells that touch at a corner only.
    colors =
      [red, nil, nil, nil, nil, red, red, nil, nil, nil, nil, nil, red, nil, nil] + Array(repeating: nil, count: 5)
    #expect(PictureRegions(size: size, colors: colors).outlines.map(\.corners.count) == [6, 4])
  }
}

/// A check that a text is well-formed XML.
private final class XMLCheck {
  let isWellFormed: Bool

  init(_ text: String) {
    var open: [Substring] = []
    var isBalanced = true
    for tag in text.matches(of: /<(\/?)([a-z]+)[^>]*?(\/?)>/) {
      if !tag.1.isEmpty {
        isBalanced = isBalanced && open.popLast() == tag.2
      } else if tag.3.isEmpty {
        open.append(tag.2)
      }
    }
    isWellFormed = isBalanced && open.isEmpty
  }
}
