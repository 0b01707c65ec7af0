/// Who started the gateway: what it hands over, and what the gateway asks of it.
package struct Supervisor: Sendable {
  /// Is told how things stand.
  package var manager: ServiceManager
  /// Is bound already.
  package var inherited: InheritedSockets
  /// Reads the settings again, from where they came; nil where that is unknown.
  package var readConfiguration: (@Sendable () throws -> Configuration)?
  /// Sees whether the program that lies in this one's place could start, and asks for it to; nil where nobody would start it.
  ///
  /// Throws an error in one line when it could not.
  package var restart: (@Sendable () async throws -> Void)?
  /// Called once by a start, before the gateway listens and says where: from here on ``Gateway/stop()`` ends it, and the
  /// process is not to end without.
  package var begins: @Sendable () -> Void

  package init(
    manager: ServiceManager = .none, inherited: InheritedSockets = InheritedSockets(),
    readConfiguration: (@Sendable () throws -> Configuration)? = nil,
    restart: (@Sendable () async throws -> Void)? = nil, begins: @escaping @Sendable () -> Void = {}
  ) {
    (self.manager, self.inherited) = (manager, inherited)
    (self.readConfiguration, self.restart, self.begins) = (readConfiguration, restart, begins)
  }
}
