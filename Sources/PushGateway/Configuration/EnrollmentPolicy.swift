/// Who may enroll a device (`enrollment`). The admin socket may always.
package enum EnrollmentPolicy: String, Sendable, CaseIterable {
  /// Programs on this machine, for new persons; others, and for persons who are known, with an invitation.
  case openOnLoopback = "open-on-loopback"
  /// Whoever has an invitation.
  case invitation
  /// Nobody else.
  case admin
}
