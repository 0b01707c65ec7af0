/// Why an assignment changes nothing: what is wrong and what is allowed, in one sentence.
public struct SettingError: Error, Sendable, Equatable, CustomStringConvertible {
  public var description: String

  init(_ description: String) { self.description = description }
}
