/// The reason why an assignment changes nothing: the error and the allowed values, in one sentence.
package struct SettingError: Error, Sendable, Equatable, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }
}
