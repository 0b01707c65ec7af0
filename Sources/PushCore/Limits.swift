/// Every bound of the gateway that is not a setting, with its reason.
package enum Limits {
  // MARK: HTTP/2

  /// Streams a peer may have open on one connection; the real service's figure (reference §5.2).
  package static let maximumConcurrentStreams = 1000
  /// `SETTINGS_MAX_HEADER_LIST_SIZE`, as the real service announces it.
  package static let announcedHeaderListSize = 8000
  /// The header list of one message, counted as RFC 9113 §6.5.2 says, names, values and 32 bytes for each field, whether
  /// or not this gateway reads it; twice what is announced, for clients that do not look.
  package static let maximumHeaderListSize = 16_000
  /// A header list that is read to its end, so that it can be answered with 431; a larger one ends its connection.
  package static let maximumDroppedHeaderListSize = 4 * maximumHeaderListSize
  /// The receive window of a connection: no sender waits for credit, however it writes.
  package static let connectionWindowSize = 16 << 20
  /// The receive window of a stream, the protocol's own (RFC 9113 §6.9.2).
  package static let streamWindowSize = 65_535
  /// Plaintext handed to one `SSL_write`: one TLS record.
  package static let recordSize = 16_384
  /// How often a device and its gateway ask each other for a sign of life, where nothing else is set: a dead link is
  /// known within twice that (``Liveness``).
  package static let pingInterval = Duration.seconds(30)

  /// Bytes of the certificates that a client shows, and how many authorities its own may be away from a trusted one: each
  /// of them costs the handshake time.
  package static let clientChainSize = 16 << 10
  package static let clientChainDepth: Int32 = 3

  /// The time that TLS handshakes have in one iteration of an event loop: one of them takes up to milliseconds.
  package static let handshakeShare = Duration.milliseconds(1)

  /// Connections that an event loop takes apart before it reads from its sockets: less than a millisecond's work.
  package static let closingSlice = 16

  // MARK: What a peer may use of a connection

  /// How often a connection's times are looked at, in seconds: each of them is exact to as much.
  package static let tick = 5
  /// A request, from the first byte of its head to the last of its body, in seconds: what is slower holds memory.
  package static let requestTime = 30
  /// How long a connection without a request is kept from the last byte of its peer on, in seconds: some libraries connect
  /// when they start, and push hours later. Where descriptors run short, or strangers hold their share, the oldest end.
  package static let firstRequestTime = 4 * 3600
  /// Seconds until the PROXY header of a connection has to be complete; balancers send it first.
  package static let proxyHeaderTime = 5
  /// How long a peer may take to acknowledge SETTINGS, in seconds (RFC 9113 §6.5.3): one that does not is bound by none.
  package static let settingsTime = 10
  /// How long nothing may leave of what makes reading pause, in seconds.
  package static let unreadTime = 30
  /// Bytes kept of requests that are not complete, of a connection that showed no credential: 200 bodies of pushes.
  package static let maximumStrangerSize = 1 << 20
  /// The same of a connection that showed one: a body on every stream.
  package static let maximumIncompleteSize = 4 << 20
  /// Bytes that a connection may send in one go and go on: who sends more reads on when others had their turn, in pieces of
  /// as much, each the work of half a millisecond. A hundred pushes under way are more, ten are less.
  package static let turnShare = 8_192
  /// Pushes of a loop that the mailbox is storing, before those who sent more than their share read on, while others send
  /// little: these wait for the commit of as many at most.
  package static let turnBacklog = 64
  /// The same while nobody else sends: small commits cost more.
  package static let turnBacklogAlone = 2_048
  /// Lines of a gateway that wait for whoever reads them one by one.
  package static let maximumWaitingLines = 10_000
  /// Channels of which a device remembers the broadcasts that it has: more than a person subscribes to.
  package static let maximumRememberedChannels = 10_000
  /// Frames that wait to be sent when reading pauses: an answer on every stream, and some for the connection.
  package static let maximumWaitingFrames = 1200
  /// Streams that the gateway resets because of what their peer did, at once and for each second: a request that is reset
  /// costs its work and counts among the open ones no more (CVE-2025-8671).
  package static let maximumResets = 200
  package static let resetsPerSecond = 20
  /// Streams refused since they are more than may be open; as many as a client may open before it has read SETTINGS.
  package static let maximumRefusedStreams = 1000
  /// Streams that the peer resets, at once and for each second (CVE-2023-44487).
  package static let maximumPeerResets = 1000
  package static let peerResetsPerSecond = 33
  /// The same of a connection that showed no credential, in all: each is a request that was begun for nothing.
  package static let maximumStrangerResets = 100
  /// CONTINUATION frames of one header block (CVE-2024-28182).
  package static let maximumContinuations = 8
  /// Acknowledgements of PING and SETTINGS that wait to be sent.
  package static let maximumWaitingAcknowledgements = 1000
  /// Entries of one SETTINGS frame.
  package static let maximumSettings = 32
  /// Requests of the control plane that are at work for one connection, whether or not their streams are still open, and
  /// for all of them.
  package static let maximumControlRequests = 64
  package static let maximumRunningRequests = 1024
  /// Bytes of answers that wait on one connection's streams when a request of the control plane is refused: nothing else
  /// stops one who asks for much and takes nothing.
  package static let maximumWaitingAnswers = 4 << 20
  /// How often one limit is logged, in seconds, however often it is met.
  package static let limitLogInterval: Int64 = 60

  /// How many lines of one event are logged in ``limitLogInterval``; of the others, how many there were.
  package static let maximumRepeatedLines = 10
  /// Lines of the log that wait for whoever reads standard error; more are dropped and counted.
  package static let maximumWaitingLogLines = 2_000

  /// Connections of one address, or of one network of IPv6 (/64), that have shown no credential; whoever has more to ask
  /// shows one with the first request. Loopback has no such bound: all devices of a machine may come back at once.
  package static let maximumAddressStrangers = 32
  /// The part of all descriptors that connections without a credential may hold, but for those of loopback: one in so many.
  package static let strangerShare = 4
  /// Idle connections without a credential that end when descriptors run short, each time that is seen.
  package static let evictionSlice = 16
  /// How old a connection is, in seconds, before it may be ended for that: time for a handshake and a request.
  package static let evictionAge = 2

  /// Descriptors that are left when accepting pauses: for the database, the admin socket, the system's libraries.
  package static let reservedDescriptors = 64

  // MARK: HTTP/1.1, for monitors

  /// Connections at once: some monitors and load balancers, each with one or two.
  package static let maximumDoorConnections = 256
  /// How long a connection has for its first request.
  package static let doorRequestTime = Duration.seconds(10)
  /// How long a connection is kept for the next one: monitors mostly come once a minute, or more often.
  package static let doorIdleTime = Duration.seconds(75)
  /// How long a connection that ends may take to read what it was answered.
  package static let doorLingerTime = Duration.seconds(2)
  /// The head of a request, its longest field, and how many those are.
  package static let maximumDoorHeadSize = 16 << 10
  package static let maximumDoorFieldSize = 8 << 10
  package static let maximumDoorFields = 64
  /// How long an event loop may take to answer before the gateway counts as stuck.
  package static let loopAnswerTime = Duration.seconds(5)

  // MARK: Provider API (reference §2)

  package static let maximumPayloadSize = 4096
  package static let maximumVoIPPayloadSize = 5120
  package static let maximumCollapseIDSize = 64
  /// Hex digits of a device token; ours have 64.
  package static let maximumTokenDigits = 400
  /// An `apns-id` that is no UUID is still echoed up to this size.
  package static let maximumEchoedIDSize = 64
  /// A provider token's age, and how far ahead its clock may be, in seconds.
  package static let maximumTokenAge = 3600
  package static let maximumTokenSkew = 300
  /// Topics that one key may be for, as at Apple (reference §4.4).
  package static let maximumKeyTopics = 400
  /// Verified provider tokens remembered by the process, and their bytes: a token may be as long as a field.
  package static let maximumCachedTokens = 10_000
  package static let maximumCachedTokenSize = 8 << 20
  /// Provider tokens of one address that turn out to be none: each costs the verification of a signature, some 100 µs of
  /// a loop. A sender who begins to fail at all its connections at once is still told why.
  package static let failedAuthentications = TokenBucket.Rate(burst: 200, perSecond: 20)
  /// The same for all of this machine, where tests of client libraries fail by the hundred.
  package static let localFailedAuthentications = TokenBucket.Rate(burst: 5_000, perSecond: 500)
  /// Rows of the delivery log for refused pushes without a valid credential: of one address, and of all addresses together.
  /// At 200 bytes a row, one row a second takes 120 MB in a week.
  package static let refusalRows = TokenBucket.Rate(burst: 20, secondsForOne: 10)
  package static let allRefusalRows = TokenBucket.Rate(burst: 200, perSecond: 1)
  /// Bytes of a refused push's topic that the log keeps.
  package static let maximumLoggedTopic = 255
  /// Values of a wrong type that the log tells of one payload.
  package static let maximumReportedFaults = 8
  /// An error body, which one client library reads no further than.
  package static let maximumErrorBodySize = 1024

  /// Faults that can be set at once; a request looks through all of them.
  package static let maximumFaults = 1000

  // MARK: Broadcast (reference §2.4, §8)

  package static let maximumBroadcastPayloadSize = 5120
  /// Channels of one app in one environment.
  package static let maximumChannels = 10_000
  /// How long the most recent message of a channel is kept at most, in seconds.
  package static let maximumBroadcastLifetime = 8 * 3600
  /// Channels that one device subscribes to.
  package static let maximumDeviceChannels = 1000
  /// Deleted channels that are remembered as such; beyond it the oldest count as never made.
  package static let maximumDeletedChannels = 100_000
  /// Rows of subscriptions in one transaction, which pushes wait for.
  package static let subscriptionSlice = 1000
  /// Broadcasts that are remembered for what their receivers say of them; each is kept once, however many they are.
  package static let recentBroadcasts = 100
  /// Streams that a loop hands a broadcast to before it serves others again: about a millisecond's work.
  package static let broadcastSlice = 64
  /// How long a loop that has more to deliver looks to its sockets first.
  package static let slicePause = Duration.microseconds(20)

  // MARK: Delivery

  /// Streams that a loop serves before it takes on more pushes: about a millisecond's work.
  package static let deliverySlice = 64
  /// Streams that a loop with a backlog serves before it takes on more pushes.
  package static let backlogSlice = 8
  /// How long a stream has waited with pushes to send when its loop counts as having a backlog: longer than a moment's
  /// disturbance, such as a slow sync, takes to be worked off.
  package static let deliveryBacklog = Duration.milliseconds(25)
  /// How long a stream that has pushes to send waits at most while the loop takes on more: pushes for one device that
  /// come within it leave with one write, and a person does not notice it.
  package static let maximumDeliveryWait = Duration.milliseconds(100)
  /// How long any push waits, in seconds.
  package static let maximumLifetime = 30 * 86_400
  /// How far ahead a push may be scheduled, in seconds: as long as one may wait.
  package static let maximumScheduleTime = 30 * 86_400
  /// Pushes that are scheduled for devices of one app, of the apps of one team, and in all: with the largest payload some
  /// 50, 100 and 500 MB of the disk, and nobody takes all of the room.
  package static let maximumAppScheduled = 10_000
  package static let maximumTeamScheduled = 20_000
  package static let maximumScheduled = 100_000
  /// Scheduled pushes that are read and handed to the mailbox at once.
  package static let scheduleSlice = 256
  /// How long the same `apns-id` for the same token is recognised as a retry, in seconds.
  package static let duplicateWindow = 300
  /// Identifiers remembered after their push was acknowledged; beyond it the oldest are forgotten early.
  package static let maximumRecentIDs = 1_000_000
  /// Pushes that wait for one commit; beyond it providers are told `ServiceUnavailable`.
  package static let maximumUncommitted = 100_000
  /// A mailbox of more rows accepts pushes while it reads what waits.
  package static let rowsReadAtOnce = 100_000
  /// Rows read at once for a device that catches up.
  package static let pendingBatch = 256
  /// Bytes waiting on a device's stream above which new pushes stay in the mailbox.
  package static let maximumStreamBacklog = 256 << 10
  /// Pushes sent and not acknowledged that one stream remembers for the log.
  package static let maximumOutstanding = 10_000
  /// Acknowledged pushes that are remembered of a device, so that what it says of them costs no search: a person mostly
  /// answers one of the last.
  package static let rememberedPushes = 32
  /// Pushes with actions that other gateways of a cell have sent, which are remembered in case they die: some 20 MB.
  package static let pushesSentElsewhere = 100_000
  /// Devices without a stream whose last pushes are remembered; they come back within moments, or it can be looked up.
  package static let maximumDepartedHistories = 10_000
  /// What a device says of pushes that are being looked up for it, one after another.
  package static let maximumUnverifiedClaims = 64
  /// Seconds for which a claim is looked up again while a gateway that may know of it is away: the time of a restart.
  package static let claimTime: Int64 = 120
  /// Pushes that a stream may name and its device never had: each costs a search of the delivery log, and only what was
  /// kept longer than that is named by mistake.
  package static let maximumStrangeClaims = 64
  /// The name of an action that an alert offers, in bytes.
  package static let maximumActionSize = 32
  /// The name of a category for which a person makes choices, in bytes.
  package static let maximumCategorySize = 255
  /// Questions of one app that are open at once (`pushcli ask`): each has a category of its own, which all start with.
  package static let maximumQuestions = 1_000
  /// The highest number a device may say it has: what every JSON library reads exactly.
  package static let maximumCursor: UInt64 = 1 << 53
  /// Pushes that wait for one device's digest; beyond it the oldest are told in none.
  package static let maximumHeld = 1000
  /// A line from a device.
  package static let maximumLineSize = 16 << 10
  /// The name of a numbering of pushes, in bytes: it stands in each device's first line, and beside its cursor.
  package static let maximumEpochSize = 64
  /// Addresses of gateways that one line of a gateway tells, and a device remembers: more than a cell has.
  package static let maximumGateways = 64
  /// The address of a gateway, in bytes: the longest name of a host and its port.
  package static let maximumAddressSize = 262
  /// Devices whose last connection is written down in one transaction, which pushes wait for.
  package static let presenceSlice = 1000
  /// Devices enrolled in one transaction of the admin API.
  package static let maximumBatchSize = 10_000
  /// How long a device token can be limited to, and an invitation, in seconds.
  package static let maximumTokenValidity = 3650 * 86_400
  package static let maximumInvitationValidity = 365 * 86_400
  /// Wrong codes that are taken for an invitation's; with the last of them it is good no longer.
  package static let invitationTries = 5
  /// Invitations that may be open at a time, few enough that a wrong code is most likely nobody's.
  package static let maximumInvitations = 1_000
  /// How often a link that many may use is good.
  package static let maximumInvitationUses = 1_000_000
  /// The body of an enrollment, which anybody may send.
  package static let maximumEnrollmentSize = 4096
  /// A request's body on the admin socket: a batch of ``maximumBatchSize`` devices.
  package static let maximumControlBodySize = 1 << 20
  /// The body of a device's choices: those for a thousand apps.
  package static let maximumPreferencesBodySize = 256 << 10
  /// The body of any other request of a device.
  package static let maximumDeviceBodySize = 16 << 10
  /// Log events that wait to be written, and their bytes; beyond either the newest are dropped and counted.
  package static let maximumLogBacklog = 200_000
  package static let maximumLogBacklogSize = 16 << 20
  /// One record of the delivery log, which a reader takes into memory as a whole.
  package static let maximumLogBatchSize = 256 << 10
  /// What a search of the delivery log reads before the log's writer has its turn: a few milliseconds.
  package static let logSearchSlice = 1 << 20
  /// Rows of the delivery log in one answer: what is more is read page by page.
  package static let maximumLogPage = 10_000
  /// Requests that wait for rows of the delivery log at the same time, of all and of one device, and for how long at most,
  /// in seconds. Devices have half of them, administrators all; 512 are half of what may be at work, so that everything
  /// else is still answered. A client that waits longer asks again.
  package static let maximumLogWaits = 512
  package static let maximumDeviceLogWaits = 8
  package static let maximumLogWaitTime = 60
  /// What the delivery log keeps of a push's title and texts, in bytes: enough to know it by.
  package static let maximumKeptText = 512
  /// What a search for a device reads, from the newest on: the rows of a million events, in half a second.
  package static let deviceLogSearchSize = 64 << 20

  // MARK: Devices and persons

  /// Rows of a list in one answer: some hundred kilobytes, however many there are.
  package static let maximumListPage = 10_000

  /// What a device says of pushes, each a row of the delivery log: all that a full mailbox held at once, then more than a
  /// person can see.
  package static let deviceReports = TokenBucket.Rate(burst: 10_000, perSecond: 50)
  /// A device's answers, each of which goes to all devices of its person: all alerts at once that a phone has open, or keeps the
  /// answers of until a gateway is there again; then as fast as keys are pressed.
  package static let deviceAnswers = TokenBucket.Rate(burst: 1_000, perSecond: 20)
  /// Changes of a person's choices, each of which is written to disk and told to all of the person's devices: a person
  /// who goes through all settings, and nothing faster.
  package static let personChanges = TokenBucket.Rate(burst: 50, perSecond: 5)
  /// A person's choices as JSON: a thousand apps, each with choices of its own.
  package static let maximumPreferencesSize = 64 << 10
  /// Registrations, subscriptions and reports of a device, each of which is a row: a device that is set up anew registers
  /// for all its apps at once.
  package static let deviceChanges = TokenBucket.Rate(burst: 1_000, perSecond: 5)
  /// Enrollments from one address, also those that are refused: each takes the writer that pushes wait for, and those that
  /// are not are kept for ever. All devices of a house at once, then one after another.
  package static let enrollments = TokenBucket.Rate(burst: 100, perSecond: 1)
  /// The same for all of this machine, where a test enrolls by the thousand. Whoever has more to enroll has the admin socket.
  package static let localEnrollments = TokenBucket.Rate(burst: 2_000, perSecond: 2)
  /// Wrong codes of invitations from one address: five, and then one in two minutes.
  package static let wrongInvitations = TokenBucket.Rate(burst: 5, secondsForOne: 120)
  /// Tokens of a device that are remembered, also those that have ended: of them the oldest is forgotten for a new one.
  package static let maximumDeviceTokens = 1_000
  /// Answers of a person that are kept; the oldest are forgotten. One is some 80 bytes.
  package static let rememberedAnswers = 1_000
  /// How long an answer is kept, in seconds: as long as its push can wait on another screen.
  package static let answerRetention: Int64 = 30 * 86_400
  /// Groups, the members of each, and the devices that one push to it goes to: all of them are one commit, which other
  /// pushes wait for.
  package static let maximumGroups = 1_000
  package static let maximumGroupMembers = 1_000
  package static let maximumGroupDevices = 5_000
  /// Copies of pushes to groups that are stored at once, but for a push that alone has more: 0.1 MB of the disk, and the
  /// payloads.
  package static let groupCopiesAtOnce = 1_000
  /// Pushes to groups that wait until others are stored: 1 MB of payloads, and 20 MB of recipients where all go to the largest
  /// groups.
  package static let waitingGroupPushes = 256
  /// Pushes to groups of which it is remembered to whom they went, so that one answer counts for all: 70 MB of the disk
  /// where all went to the largest groups.
  package static let rememberedGroupPushes = 10_000
  /// Pushes of one app that were taken back, each from one person, which are remembered; the oldest are forgotten. One is
  /// some 150 bytes of memory.
  package static let maximumRetractions = 100_000
  /// How long it is remembered that a push was taken back, in seconds: as long as one can wait.
  package static let retractionRetention: Int64 = 30 * 86_400
  /// Actions of administrators that are kept, and of each body so many bytes: some 200 MB at most.
  package static let maximumAuditRecords = 100_000
  package static let maximumAuditedBody = 2_048
  /// Requests refused for their role that are kept of one who asks, and of all, in an hour: nobody is to fill the trail with
  /// what was never done.
  package static let maximumAuditedRefusals = 20
  package static let maximumAuditedRefusalsInAll = 200
  /// Tokens of administrators: more than there are people.
  package static let maximumAdministratorTokens = 1_000
  /// How long one is good at most, in days.
  package static let maximumAdministratorTokenDays = 3650
  /// Pages of the database's log from which on whoever writes moves it: 32 MB, three times what the mailbox leaves.
  package static let maximumDatabaseLogPages = 8_192
  /// Streams of one device, each of which every push for it is written to: the terminals of a person and then some.
  package static let maximumDeviceStreams = 16

  // MARK: What a client takes from a gateway

  /// A line of a gateway, which may be anybody's: a welcome names every app of the device and holds the person's choices.
  package static let maximumGatewayLineSize = 4 << 20
  /// A whole answer of a gateway; `pushcli log` may ask for a million rows.
  package static let maximumAnswerSize = 512 << 20

  // MARK: What is read back

  /// The highest number in a row of the databases (``ColumnBounds``). Numbers rise one by one, at most from
  /// ``maximumCursor``, so that those that were given out stay far below.
  package static let maximumNumber: Int64 = 1 << 54
  /// The last time that RFC 3339 can write, in seconds since 1970: the end of the year 9999.
  package static let maximumTime: Int64 = 253_402_300_799
  /// A file of the state folder in a backup; SQLite takes no value of 1 GB.
  package static let maximumSavedFileSize = 512 << 20
  /// A text or blob that a repair reads: larger than any that is written, and small enough for a row of them.
  package static let maximumRepairedValueSize = 64 << 20
  /// Levels of pages in a table that a repair reads; SQLite reads no more.
  package static let maximumTreeDepth = 20
  /// Levels of a payload that an earlier version accepted: a repair keeps it, and its delivery tells the device.
  package static let maximumStoredDepth = 1024
}
