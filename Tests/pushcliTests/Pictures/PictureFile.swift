import TerminalUI

/// A picture as an SVG file: windows with their content, static or animated.
struct PictureFile {
  /// The window of a terminal.
  struct Window {
    var size: Size
    /// The frames in order, each until the next begins.
    var scenes: [(begin: Double, frame: Frame)]
    /// The index of the frame that a static view shows.
    var still = 0
  }

  private static let margin = 12
  private static let gap = 10
  private static let font = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

  /// The description of the picture.
  var title: String
  var windows: [Window]
  /// The period of the animation in seconds; 0 for a static picture.
  var duration = 0.0

  init(title: String, frame: Frame) {
    self.title = title
    windows = [Window(size: frame.size, scenes: [(0, frame)])]
  }

  init(title: String, windows: [Window], duration: Double) {
    (self.title, self.windows, self.duration) = (title, windows, duration)
  }

  /// Returns the outer size of a window.
  private func outer(_ window: Window) -> (width: Int, height: Int) {
    (
      window.size.columns * PictureCell.width + 2 * Self.margin,
      window.size.rows * PictureCell.height + 2 * Self.margin
    )
  }

  func svg(_ scheme: PictureScheme) -> String {
    let width = windows.map { outer($0).width }.max() ?? 0
    let height = windows.reduce(-Self.gap) { $0 + outer($1).height + Self.gap }
    var body: [String] = []
    var (top, rules) = (0, "")
    for (place, window) in windows.enumerated() {
      let outer = outer(window)
      body.append(
        """
        <rect x=".5" y="\(top).5" width="\(outer.width - 1)" height="\(outer.height - 1)" rx="8" fill="\(scheme.window)" \
        stroke="\(scheme.border)"/>
        """)
      body.append("<g transform=\"translate(\(Self.margin) \(top + Self.margin))\">")
      for (number, scene) in window.scenes.enumerated() {
        let elements = Picture(frame: scene.frame, scheme: scheme).elements
        guard window.scenes.count > 1 else {
          body += elements
          continue
        }
        let name = "\(["a", "b", "c"][place])\(number)"
        rules += rule(name, window, number)
        body.append("<g id=\"\(name)\" class=\"scene\(number == window.still ? " still" : "")\">")
        body += elements
        body.append("</g>")
      }
      body.append("</g>")
      top += outer.height + Self.gap
    }
    let style =
      rules.isEmpty ? [] : ["<style>\(Self.base)\n@media (prefers-reduced-motion:no-preference){\n\(rules)}</style>"]
    let head = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
      font-family="\(Self.font)" font-size="\(PictureCell.fontSize)" role="img" aria-label="\(title)">
      """
    return ([head, "<title>\(title)</title>"] + style + body + ["</svg>", ""]).joined(separator: "\n")
  }

  /// Without animation, one scene of each window is shown.
  private static let base = ".scene{opacity:0}.still{opacity:1}"

  /// Returns the CSS rule that shows a scene until the next one begins.
  private func rule(_ name: String, _ window: Window, _ number: Int) -> String {
    let begin = percent(window.scenes[number].begin)
    let isLast = number == window.scenes.count - 1
    let end = isLast ? "" : "\(percent(window.scenes[number + 1].begin))%{opacity:0}"
    let start = number == 0 ? "0%{opacity:1}" : "0%{opacity:0}\(begin)%{opacity:1}"
    return
      "@keyframes \(name){\(start)\(end)}#\(name){animation:\(name) \(PicturePath.text(duration))s step-end infinite}\n"
  }

  private func percent(_ seconds: Double) -> String {
    PicturePath.text((seconds / duration * 10_000).rounded() / 100)
  }
}
