import Foundation
package import PushCore
package import PushPolicy

/// Users, devices and tokens in memory: 0.3 KB for a user with a device and a token.
///
/// Records of a fixed size refer to each other by number, and ``HashIndex`` finds them by key. No change moves more
/// than a fraction of the tables, because pushes are delayed during a move.
package struct RegistrationTables: Sendable {
  /// The preferences of users without their own, which most users are.
  private static let noChoices = Preferences()
  private static let none = UInt32.max

  /// Preferences that several users may share.
  package final class SharedPreferences: Sendable {
    let preferences: Preferences
    package init(_ preferences: Preferences) { self.preferences = preferences }
  }

  private struct PersonRecord: Sendable {
    var row: Int64
    var name: String
    /// The preferences; nil: the defaults.
    var choices: SharedPreferences?
    /// The newest of the user's devices, each of which refers to the previous one by `next`.
    var device = RegistrationTables.none
  }

  private struct DeviceRecord: Sendable {
    var row: Int64
    var person: Int64
    var uuid: (UInt64, UInt64)
    var name: String
    var secret: Digest32?
    /// The time of the last connection, in seconds since 1970; negative: never.
    var lastSeen: Int64
    /// The next of the user's devices.
    var next = RegistrationTables.none
    /// The newest of the device's tokens, each of which refers to the previous one by `next`.
    var token = RegistrationTables.none
    var role: Role
    /// True if the UUID has another form than a gateway writes; it is then stored in ``otherUUIDs``.
    var hasOtherUUID = false
  }

  private struct TokenRecord: Sendable {
    var token: DeviceToken
    var device: Int64
    var app: Int64
    var times: (unregistered: Int64, expires: Int64)
    var next = RegistrationTables.none
    var environment: Environment
    /// True if the times are set: no value of a time means that there is none.
    var (isUnregistered, isLimited) = (false, false)
  }

  /// The SHA-256 hash of a secret.
  private struct Digest32: Equatable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64)

    init?(_ bytes: some Collection<UInt8>) {
      guard bytes.count == 32 else { return nil }
      var iterator = bytes.makeIterator()
      func word() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(iterator.next() ?? 0) } }
      words = (word(), word(), word(), word())
    }

    static func == (one: Digest32, other: Digest32) -> Bool { one.words == other.words }
  }

  private var persons = Slab<PersonRecord>()
  private var personsByRow = HashIndex()
  private var personsByName = HashIndex()
  private var devices = Slab<DeviceRecord>()
  private var devicesByRow = HashIndex()
  private var devicesByName = HashIndex()
  private var devicesBySecret = HashIndex()
  private var otherUUIDs: [Int64: String] = [:]
  private var tokens = Slab<TokenRecord>()
  private var tokensByBytes = HashIndex()

  // MARK: Users

  package func person(_ id: PersonID) -> Person? { index(of: id).flatMap { persons[$0].map(person) } }

  package func person(named name: String) -> Person? {
    personsByName.find(RegistrationTables.hash(of: name)) { persons[$0]?.name == name }.flatMap {
      persons[$0].map(person)
    }
  }

  package func preferences(of person: PersonID) -> Preferences? {
    index(of: person).map { persons[$0]?.choices?.preferences ?? RegistrationTables.noChoices }
  }

  /// Adds a user, who must not be in the tables yet.
  ///
  /// - Parameter choices: the preferences; nil: the defaults.
  package mutating func add(_ id: PersonID, name: String, choices: SharedPreferences?) {
    let index = persons.add(PersonRecord(row: id.row, name: name, choices: choices))
    personsByRow.insert(index, hash: HashIndex.hash(of: id.row))
    personsByName.insert(index, hash: RegistrationTables.hash(of: name))
  }

  package mutating func set(_ preferences: Preferences, of person: PersonID) {
    guard let index = index(of: person) else { return }
    persons[index]?.choices = preferences == RegistrationTables.noChoices ? nil : SharedPreferences(preferences)
  }

  package mutating func rename(_ person: PersonID, to name: String) {
    guard let index = index(of: person), let before = persons[index]?.name else { return }
    personsByName.remove(index, hash: RegistrationTables.hash(of: before))
    persons[index]?.name = name
    personsByName.insert(index, hash: RegistrationTables.hash(of: name))
  }

  package mutating func remove(_ person: PersonID) {
    guard let index = index(of: person), let record = persons[index] else { return }
    personsByRow.remove(index, hash: HashIndex.hash(of: person.row))
    personsByName.remove(index, hash: RegistrationTables.hash(of: record.name))
    persons.remove(index)
  }

  private func person(_ record: PersonRecord) -> Person {
    Person(
      id: PersonID(row: record.row), name: record.name,
      preferences: record.choices?.preferences ?? RegistrationTables.noChoices)
  }

  private func index(of person: PersonID) -> Int? {
    personsByRow.find(HashIndex.hash(of: person.row)) { persons[$0]?.row == person.row }
  }

  // MARK: Devices

  package func device(_ id: DeviceID) -> Device? { index(of: id).flatMap { devices[$0].map(device) } }

  package func device(named name: String) -> Device? {
    devicesByName.find(RegistrationTables.hash(of: name)) { devices[$0]?.name == name }.flatMap {
      devices[$0].map(device)
    }
  }

  package func device(secretHash: [UInt8]) -> Device? {
    guard let secret = Digest32(secretHash) else { return nil }
    return devicesBySecret.find(secret.words.0) { devices[$0]?.secret == secret }.flatMap { devices[$0].map(device) }
  }

  /// Returns the user who owns a device.
  package func owner(of device: DeviceID) -> PersonID? {
    index(of: device).flatMap { devices[$0].map { PersonID(row: $0.person) } }
  }

  /// Returns the user's devices, in the order in which they were added.
  package func devices(of person: PersonID) -> [DeviceID] {
    guard let index = index(of: person), var next = persons[index]?.device else { return [] }
    var found: [DeviceID] = []
    while next != RegistrationTables.none, let record = devices[Int(next)] {
      found.append(DeviceID(row: record.row))
      next = record.next
    }
    return found.reversed()
  }

  /// Returns a device, the name of its user, and all its registrations, including ended ones.
  package func listed(_ id: DeviceID) -> (device: Device, person: String, registrations: [Registration])? {
    guard let index = index(of: id), let record = devices[index] else { return nil }
    let person = self.index(of: PersonID(row: record.person)).flatMap { persons[$0]?.name } ?? ""
    return (device(record), person, registrations(from: record.token))
  }

  /// Adds a device, which must not be in the tables yet, to its user's devices.
  package mutating func add(_ device: Device, secretHash: some Collection<UInt8>) {
    let (uuid, secret) = (DeviceUUID.words(of: device.uuid), Digest32(secretHash))
    let isOther = uuid == nil
    if isOther { otherUUIDs[device.id.row] = device.uuid }
    let words = uuid ?? (0, 0)
    var record = DeviceRecord(
      row: device.id.row, person: device.person.row, uuid: words, name: device.name, secret: secret,
      lastSeen: device.lastSeen ?? -1, role: device.role, hasOtherUUID: isOther)
    let owner = index(of: device.person)
    record.next = owner.flatMap { persons[$0]?.device } ?? RegistrationTables.none
    let index = devices.add(record)
    if let owner { persons[owner]?.device = UInt32(index) }
    devicesByRow.insert(index, hash: HashIndex.hash(of: device.id.row))
    devicesByName.insert(index, hash: RegistrationTables.hash(of: device.name))
    if let secret { devicesBySecret.insert(index, hash: secret.words.0) }
  }

  package mutating func set(secretHash: [UInt8], of device: DeviceID) {
    guard let index = index(of: device) else { return }
    if let before = devices[index]?.secret { devicesBySecret.remove(index, hash: before.words.0) }
    let secret = Digest32(secretHash)
    devices[index]?.secret = secret
    if let secret { devicesBySecret.insert(index, hash: secret.words.0) }
  }

  package mutating func set(lastSeen: Int64, of device: DeviceID) {
    guard let index = index(of: device) else { return }
    devices[index]?.lastSeen = lastSeen
  }

  /// Removes a device with its secret.
  ///
  /// - Returns: its tokens, which stay in the tables.
  @discardableResult
  package mutating func remove(_ device: DeviceID) -> [DeviceToken] {
    guard let index = index(of: device), let record = devices[index] else { return [] }
    let tokens = tokenIndexes(from: record.token).compactMap { self.tokens[$0]?.token }
    devicesByRow.remove(index, hash: HashIndex.hash(of: device.row))
    devicesByName.remove(index, hash: RegistrationTables.hash(of: record.name))
    if let secret = record.secret { devicesBySecret.remove(index, hash: secret.words.0) }
    if record.hasOtherUUID { otherUUIDs[device.row] = nil }
    unlink(index, next: record.next, from: PersonID(row: record.person))
    devices.remove(index)
    return tokens
  }

  private mutating func unlink(_ index: Int, next: UInt32, from person: PersonID) {
    guard let owner = self.index(of: person), var one = persons[owner]?.device else { return }
    guard one != index else {
      persons[owner]?.device = next
      return
    }
    while one != RegistrationTables.none, let record = devices[Int(one)] {
      if record.next == index {
        devices[Int(one)]?.next = next
        return
      }
      one = record.next
    }
  }

  /// Reads up to `limit` devices in no order and advances `next`, at most to ``deviceEnd``.
  package func devices(from next: inout Int, limit: Int) -> [Device] {
    let end = min(devices.end, next + limit)
    defer { next = max(next, end) }
    return next < end ? (next..<end).compactMap { devices[$0].map(device) } : []
  }

  /// Reads up to `limit` users in no order and advances `next`, at most to ``personEnd``.
  package func persons(from next: inout Int, limit: Int) -> [Person] {
    let end = min(persons.end, next + limit)
    defer { next = max(next, end) }
    return next < end ? (next..<end).compactMap { persons[$0].map(person) } : []
  }

  /// The position at which ``devices(from:limit:)`` ends.
  package var deviceEnd: Int { devices.end }

  /// The position at which ``persons(from:limit:)`` ends.
  package var personEnd: Int { persons.end }

  private func device(_ record: DeviceRecord) -> Device {
    let uuid = record.hasOtherUUID ? otherUUIDs[record.row] ?? "" : DeviceUUID.text(of: record.uuid)
    return Device(
      id: DeviceID(row: record.row), uuid: uuid, name: record.name, person: PersonID(row: record.person),
      role: record.role, lastSeen: record.lastSeen < 0 ? nil : record.lastSeen)
  }

  private func index(of device: DeviceID) -> Int? {
    devicesByRow.find(HashIndex.hash(of: device.row)) { devices[$0]?.row == device.row }
  }

  // MARK: Tokens

  package func registration(_ token: DeviceToken) -> Registration? {
    index(of: token).flatMap { tokens[$0].map(RegistrationTables.registration) }
  }

  /// Returns all registrations of a device, including ended ones, in the order in which they were made.
  package func registrations(of device: DeviceID) -> [Registration] {
    guard let index = index(of: device), let first = devices[index]?.token else { return [] }
    return registrations(from: first)
  }

  private func registrations(from first: UInt32) -> [Registration] {
    tokenIndexes(from: first).reversed().compactMap { tokens[$0].map(RegistrationTables.registration) }
  }

  /// Adds a token, which must not be in the tables yet.
  ///
  /// - Parameter isLinked: true if its device is in the tables and the token is added to the device's list.
  package mutating func add(_ registration: Registration, isLinked: Bool = true) {
    let index = tokens.add(
      TokenRecord(
        token: registration.token, device: registration.device.row, app: registration.app.row,
        times: (registration.unregistered ?? 0, registration.expires ?? 0), environment: registration.environment,
        isUnregistered: registration.unregistered != nil, isLimited: registration.expires != nil))
    tokensByBytes.insert(index, hash: registration.token.hash)
    if isLinked { link(index, to: registration.device) }
  }

  package mutating func set(unregistered: Int64, of token: DeviceToken) {
    guard let index = index(of: token) else { return }
    tokens[index]?.times.unregistered = unregistered
    tokens[index]?.isUnregistered = true
  }

  package mutating func remove(_ token: DeviceToken) {
    guard let index = index(of: token), let record = tokens[index] else { return }
    tokensByBytes.remove(index, hash: token.hash)
    if let owner = self.index(of: DeviceID(row: record.device)), let first = devices[owner]?.token {
      if first == index {
        devices[owner]?.token = record.next
      } else if let before = tokenIndexes(from: first).first(where: { tokens[$0]?.next == UInt32(index) }) {
        tokens[before]?.next = record.next
      }
    }
    tokens.remove(index)
  }

  private mutating func link(_ index: Int, to device: DeviceID) {
    guard let owner = self.index(of: device), let first = devices[owner]?.token else { return }
    tokens[index]?.next = first
    devices[owner]?.token = UInt32(index)
  }

  private func tokenIndexes(from first: UInt32) -> [Int] {
    var (indexes, next): ([Int], UInt32) = ([], first)
    while next != RegistrationTables.none, let record = tokens[Int(next)] {
      indexes.append(Int(next))
      next = record.next
    }
    return indexes
  }

  private static func registration(_ record: TokenRecord) -> Registration {
    Registration(
      token: record.token, device: DeviceID(row: record.device), app: AppID(row: record.app),
      environment: record.environment, unregistered: record.isUnregistered ? record.times.unregistered : nil,
      expires: record.isLimited ? record.times.expires : nil)
  }

  private func index(of token: DeviceToken) -> Int? {
    tokensByBytes.find(token.hash) { tokens[$0]?.token == token }
  }

  // MARK: Loading at start

  /// Reserves memory for numbers of records.
  package mutating func reserve(persons: Int = 0, devices: Int = 0, tokens: Int = 0) {
    personsByRow.reserve(persons)
    personsByName.reserve(persons)
    devicesByRow.reserve(devices)
    devicesByName.reserve(devices)
    devicesBySecret.reserve(devices)
    tokensByBytes.reserve(tokens)
  }

  /// Moves the tokens of other tables here and links them to the devices of these tables. The other tables contain only
  /// tokens, and are empty afterwards; nothing is copied.
  package mutating func take(tokensOf other: inout RegistrationTables) {
    swap(&tokens, &other.tokens)
    swap(&tokensByBytes, &other.tokensByBytes)
    for index in 0..<tokens.end {
      // Tokens of removed devices are linked to no device.
      if let record = tokens[index] { link(index, to: DeviceID(row: record.device)) }
    }
  }

  private static func hash(of name: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(name)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
