/// Why an assignment changes nothing: what is wrong and what is allowed, in one sentence.
package struct SettingError: Error, Sendable, Equatable, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }
}
