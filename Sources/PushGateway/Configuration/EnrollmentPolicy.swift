/// The permission to enroll a device (`enrollment`). The admin socket always has it.
package enum EnrollmentPolicy: String, Sendable, CaseIterable {
  /// Programs on this machine, for new users; other clients, and for existing users, with an invitation.
  case openOnLoopback = "open-on-loopback"
  /// Clients with an invitation.
  case invitation
  /// The admin socket only.
  case admin
}
