/// The environment that started the gateway: the resources that it provides, and the actions that it performs.
package struct Supervisor: Sendable {
  /// The receiver of status notifications.
  package var manager: ServiceManager
  /// The sockets that are already bound.
  package var inherited: InheritedSockets
  /// Reads the settings again, from their origins; nil if those are unknown.
  package var readConfiguration: (@Sendable () throws -> Configuration)?
  /// Checks that the installed program could start. Throws an error in one line if it could not.
  package var checkNextProgram: @Sendable () async throws -> Void
  /// Requests a restart with the installed program; nil if a restart is not available.
  package var restart: (@Sendable () -> Void)?
  /// Called once by a start, before the gateway listens and announces its addresses: from then on the process must
  /// end only through ``Gateway/stop()``.
  package var begins: @Sendable () -> Void

  package init(
    manager: ServiceManager = .none, inherited: InheritedSockets = InheritedSockets(),
    readConfiguration: (@Sendable () throws -> Configuration)? = nil,
    checkNextProgram: @escaping @Sendable () async throws -> Void = {}, restart: (@Sendable () -> Void)? = nil,
    begins: @escaping @Sendable () -> Void = {}
  ) {
    (self.manager, self.inherited) = (manager, inherited)
    (self.readConfiguration, self.checkNextProgram) = (readConfiguration, checkNextProgram)
    (self.restart, self.begins) = (restart, begins)
  }
}
