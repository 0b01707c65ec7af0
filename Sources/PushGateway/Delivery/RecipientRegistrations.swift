import PushCore
import PushStorage

extension MessageSender.Recipient {
  /// Returns the registrations of a device, or those of a group in an environment; expired ones included.
  func registrations(
    in environment: Environment, _ registrations: any Registrations, _ groups: Groups
  ) -> [Registration] {
    switch self {
    case .device(let device): return registrations.registrations(of: device).map(\.0)
    case .group(let number):
      let address = GroupAddress(group: number, environment: environment).device
      return groups.group(at: address).map { groups.registrations(of: $0) } ?? []
    }
  }
}
