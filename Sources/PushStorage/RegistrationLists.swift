package import PushCore

extension Registrations {
  /// Returns a device as lists show it; nil if the device does not exist.
  package func listed(_ id: DeviceID) -> ListedDevice? {
    device(id).map { device in
      ListedDevice(
        device: device, person: person(device.person)?.name ?? "", registrations: registrations(of: id))
    }
  }

  /// Returns one page of the devices, in the order of the bytes of their names.
  package func listDevices(_ page: ListPage) async throws -> [DeviceID] {
    page.take(of: devices, by: \.name).map(\.id)
  }

  /// Returns one page of the users, in the order of the bytes of their names.
  package func listPersons(_ page: ListPage) async throws -> [PersonID] {
    page.take(of: persons, by: \.name).map(\.id)
  }
}
