/// All limits of the gateway that are not settings, each with its reason.
package enum Limits {
  // MARK: Provider API (reference §2)

  package static let maximumPayloadSize = 4096
  package static let maximumVoIPPayloadSize = 5120
  package static let maximumCollapseIDSize = 64
  /// The maximum number of hex digits of a device token; tokens of this gateway have 64.
  package static let maximumTokenDigits = 400
  /// The maximum size in bytes of an `apns-id` that is not a UUID and is still echoed.
  package static let maximumEchoedIDSize = 64
  /// The maximum age of a provider token in seconds, and the maximum time that its clock may be ahead.
  package static let maximumTokenAge = 3600
  package static let maximumTokenSkew = 300
  /// The maximum number of topics of one key, as at Apple (reference §4.4).
  package static let maximumKeyTopics = 400
  /// The maximum number of verified provider tokens in memory, and their bytes: a token may be as long as a field.
  package static let maximumCachedTokens = 10_000
  package static let maximumCachedTokenSize = 8 << 20
  /// The rate of invalid provider tokens from one address. Each costs the verification of a signature, about 100 µs
  /// of an event loop.
  ///
  /// The burst is large enough that a sender whose pushes begin to fail on all its connections at once still gets the
  /// reason.
  package static let failedAuthentications = TokenBucket.Rate(burst: 200, perSecond: 20)
  /// The same rate for all of this machine, where tests of client libraries fail by the hundred.
  package static let localFailedAuthentications = TokenBucket.Rate(burst: 5_000, perSecond: 500)
  /// The rate of rows in the delivery log for pushes refused without a valid credential: of one address, and of all
  /// addresses together. With rows of 200 bytes, one row a second takes 120 MB in a week.
  package static let refusalRows = TokenBucket.Rate(burst: 20, secondsForOne: 10)
  package static let allRefusalRows = TokenBucket.Rate(burst: 200, perSecond: 1)
  /// The bytes of a refused push's topic in the delivery log.
  package static let maximumLoggedTopic = 255
  /// The maximum number of values of a wrong type that the log reports for one payload.
  package static let maximumReportedFaults = 8
  /// The maximum size of an error body in bytes: one client library reads no more.
  package static let maximumErrorBodySize = 1024

  /// The maximum number of faults that can be set at once; each request is compared with all of them.
  package static let maximumFaults = 1000

  // MARK: Test gateways

  /// The default number of requests in the record of a test gateway, and their maximum size in bytes, counted with the memory
  /// of their parsed payloads.
  package static let recordedPushes = 100_000
  package static let maximumRecordedSize = 512 << 20
  /// The maximum size of a request's body of the test API in bytes.
  package static let maximumTestBodySize = 64 << 10
  /// The maximum number of devices that a test gateway creates for unknown tokens.
  package static let maximumAdoptedDevices = 100_000
  /// The maximum number of provider tokens for which a test gateway remembers its clock: more than a test has.
  package static let maximumDatedTokens = 10_000

  // MARK: Broadcast (reference §2.4, §8)

  package static let maximumBroadcastPayloadSize = 5120
  /// The maximum number of channels of one app in one environment.
  package static let maximumChannels = 10_000
  /// The maximum time in seconds that the most recent message of a channel is stored.
  package static let maximumBroadcastLifetime = 8 * 3600
  /// The maximum number of channels that one device subscribes to.
  package static let maximumDeviceChannels = 1000
  /// The maximum number of deleted channels that are remembered as deleted; the oldest ones beyond it count as
  /// unknown.
  package static let maximumDeletedChannels = 100_000
  /// The number of subscription rows in one transaction, because pushes wait for it.
  package static let subscriptionSlice = 1000
  /// The number of recent broadcasts in memory for the reports of their receivers; each is stored once for all
  /// receivers.
  package static let recentBroadcasts = 100
  /// The number of streams that get a broadcast before the event loop serves others: about a millisecond of work.
  package static let broadcastSlice = 64
  /// The time for which an event loop with more to deliver serves its sockets first.
  package static let slicePause = Duration.microseconds(20)

  // MARK: Delivery

  /// The number of streams that an event loop serves before it accepts more pushes: about a millisecond of work.
  package static let deliverySlice = 64
  /// The number of streams that an event loop with a backlog serves before it accepts more pushes.
  package static let backlogSlice = 8
  /// The time that a stream with pushes to send has waited when its event loop counts as having a backlog: longer
  /// than it takes to work off a short disturbance such as a slow sync.
  package static let deliveryBacklog = Duration.milliseconds(25)
  /// The maximum time that a stream with pushes to send waits while the event loop accepts more pushes. Pushes for
  /// one device within this time are sent with one write; users do not notice the delay.
  package static let maximumDeliveryWait = Duration.milliseconds(100)
  /// The maximum time in seconds that a push is stored.
  package static let maximumLifetime = 30 * 86_400
  /// The maximum time in seconds until the delivery of a scheduled push: the same as ``maximumLifetime``.
  package static let maximumScheduleTime = 30 * 86_400
  /// The maximum numbers of scheduled pushes: for devices of one app, for the apps of one team, and in all.
  ///
  /// With the largest payload they take about 50, 100 and 500 MB of the disk, so no sender uses up all of the space.
  package static let maximumAppScheduled = 10_000
  package static let maximumTeamScheduled = 20_000
  package static let maximumScheduled = 100_000
  /// The number of scheduled pushes that are read and handed to the mailbox at once.
  package static let scheduleSlice = 256
  /// The time in seconds in which the same `apns-id` for the same token is recognized as a retry.
  package static let duplicateWindow = 300
  /// The maximum number of identifiers remembered after their push was acknowledged; the oldest ones beyond it are
  /// forgotten early.
  package static let maximumRecentIDs = 1_000_000
  /// The maximum number of pushes in one commit; providers get `ServiceUnavailable` beyond it.
  package static let maximumUncommitted = 100_000
  /// The number of rows read at once for a device that catches up.
  package static let pendingBatch = 256
  /// The bytes queued on a device's stream above which new pushes stay in the mailbox.
  package static let maximumStreamBacklog = 256 << 10
  /// The maximum number of pushes sent and not acknowledged that one stream remembers for the log.
  package static let maximumOutstanding = 10_000
  /// The number of acknowledged pushes remembered for each device, so that its reports on them need no search: most
  /// reports are on one of the last pushes.
  package static let rememberedPushes = 32
  /// The number of pushes with actions that other gateways of the cluster have sent, remembered for the case that
  /// such a gateway fails: about 20 MB.
  package static let maximumRemotePushes = 100_000
  /// The maximum number of devices without a stream whose last pushes are remembered. Most reconnect within moments;
  /// for others the pushes can be looked up.
  package static let maximumDepartedHistories = 10_000
  /// The maximum number of a device's reports whose pushes are being looked up, one after another.
  package static let maximumUnverifiedReports = 64
  /// The time in seconds for which a lookup is retried while a gateway that may have the push is not connected: the
  /// time of a restart.
  package static let reportLookupTime: Int64 = 120
  /// The maximum number of pushes on a stream's reports that its device never received. Each costs a search of the
  /// delivery log, and only pushes older than the log are named by mistake.
  package static let maximumUnknownReports = 64
  /// The maximum size in bytes of the name of an action in an alert.
  package static let maximumActionSize = 32
  /// The maximum size in bytes of the name of a category for which a user sets preferences.
  package static let maximumCategorySize = 255
  /// The maximum number of open questions of one app (`pushcli ask`): each has its own category, and a start of the
  /// gateway reads all categories.
  package static let maximumQuestions = 1_000
  /// The highest cursor that a device may report: all JSON libraries read integers up to it exactly.
  package static let maximumCursor: UInt64 = 1 << 53
  /// The maximum number of pushes deferred to one device's summary; the oldest ones beyond it appear in no summary.
  package static let maximumDeferred = 1000
  /// The maximum size in bytes of a line from a device.
  package static let maximumLineSize = 16 << 10
  /// The maximum size in bytes of the name of a numbering of pushes, which is in each device's first line, with its
  /// cursor.
  package static let maximumEpochSize = 64
  /// The maximum number of gateway addresses in one line of a gateway, and in a device's memory: more than a cluster
  /// has.
  package static let maximumGateways = 64
  /// The maximum size in bytes of a gateway's address: the longest host name and its port.
  package static let maximumAddressSize = 262
  /// The number of devices whose last connection is stored in one transaction, because pushes wait for it.
  package static let presenceSlice = 1000
  /// The maximum number of devices enrolled in one transaction of the admin API.
  package static let maximumBatchSize = 10_000
  /// The maximum validity in seconds of a device token, if it is limited, and of an invitation.
  package static let maximumTokenValidity = 3650 * 86_400
  package static let maximumInvitationValidity = 365 * 86_400
  /// The maximum number of wrong codes counted against an invitation; the last of them invalidates it.
  package static let invitationTries = 5
  /// The maximum number of open invitations, so few that a wrong code most likely matches none.
  package static let maximumInvitations = 1_000
  /// The maximum number of uses of an invitation link for many devices.
  package static let maximumInvitationUses = 1_000_000
  /// The lifetime of a link to the console in seconds: the time to open it in a browser.
  package static let consoleLinkTime: Int64 = 60
  /// The lifetime of a session of the console in seconds: a working day.
  package static let consoleSessionTime: Int64 = 12 * 3600
  /// The maximum numbers of links and of sessions of the console, which are in memory.
  package static let maximumConsoleLinks = 100
  package static let maximumConsoleSessions = 1_000
  /// The maximum size in bytes of the body of an enrollment, which unauthenticated clients can send.
  package static let maximumEnrollmentSize = 4096
  /// The maximum size in bytes of a request's body on the admin socket: a batch of ``maximumBatchSize`` devices.
  package static let maximumControlBodySize = 1 << 20
  /// The maximum size in bytes of the preferences in a device's request: those for a thousand apps.
  package static let maximumPreferencesBodySize = 256 << 10
  /// The maximum size in bytes of the body of a device's other requests.
  package static let maximumDeviceBodySize = 16 << 10
  /// The maximum number of log events queued for writing, and their bytes; the newest beyond either are dropped and
  /// counted.
  package static let maximumLogBacklog = 200_000
  package static let maximumLogBacklogSize = 16 << 20
  /// The maximum size in bytes of one record of the delivery log, which a reader loads as a whole.
  package static let maximumLogBatchSize = 256 << 10
  /// The bytes that a search of the delivery log reads before the log's writer continues: a few milliseconds.
  package static let logSearchSlice = 1 << 20
  /// The maximum number of rows of the delivery log in one response; further rows are on the next pages.
  package static let maximumLogPage = 10_000
  /// The maximum numbers of requests waiting for rows of the delivery log at the same time, of all clients and of one
  /// device, and their maximum time in seconds.
  ///
  /// Devices can use half of them, administrators all. 512 are half of the maximum of running requests, so that all
  /// other requests are still served. To wait longer, a client repeats its request.
  package static let maximumLogWaits = 512
  package static let maximumDeviceLogWaits = 8
  package static let maximumLogWaitTime = 60
  /// The bytes of a push's title and texts in the delivery log: enough to recognize the push.
  package static let maximumKeptText = 512
  /// The bytes that a search for a device reads, from the newest row on: the rows of a million events, in half a
  /// second.
  package static let deviceLogSearchSize = 64 << 20

  // MARK: Devices and users

  /// The maximum number of rows of a list in one response: some hundred kilobytes.
  package static let maximumListPage = 10_000

  /// The rate of a device's reports on pushes, each a row of the delivery log: all pushes of a full mailbox at once,
  /// then more than a user can see.
  package static let deviceReports = TokenBucket.Rate(burst: 10_000, perSecond: 50)
  /// The rate of a device's answers, each of which goes to all devices of its user.
  ///
  /// The burst covers all open alerts of a phone, or the answers that it stored until it reaches a gateway; after
  /// that the rate is that of pressing keys.
  package static let deviceAnswers = TokenBucket.Rate(burst: 1_000, perSecond: 20)
  /// The rate of changes of a user's preferences, each of which is written to disk and sent to all of the user's
  /// devices: the rate of a user who goes through all settings.
  package static let personChanges = TokenBucket.Rate(burst: 50, perSecond: 5)
  /// The maximum size in bytes of a user's preferences as JSON: a thousand apps, each with its own preferences.
  package static let maximumPreferencesSize = 64 << 10
  /// The rate of a device's registrations, subscriptions and reports, each of which is a row: a device that is set up
  /// again registers for all its apps at once.
  package static let deviceChanges = TokenBucket.Rate(burst: 1_000, perSecond: 5)
  /// The rate of enrollments from one address, also of refused ones: each uses the writer that pushes wait for, and
  /// accepted ones are stored permanently. The burst covers all devices of a household.
  package static let enrollments = TokenBucket.Rate(burst: 100, perSecond: 1)
  /// The same rate for all of this machine, where a test enrolls devices by the thousand. The admin socket has no
  /// such limit.
  package static let localEnrollments = TokenBucket.Rate(burst: 2_000, perSecond: 2)
  /// The rate of wrong invitation codes from one address: five, and then one in two minutes.
  package static let wrongInvitations = TokenBucket.Rate(burst: 5, secondsForOne: 120)
  /// The maximum number of tokens stored for a device, expired ones included; the oldest expired one is removed for a
  /// new one.
  package static let maximumDeviceTokens = 1_000
  /// The number of a user's answers that are stored, about 80 bytes each; the oldest are removed.
  package static let rememberedAnswers = 1_000
  /// The time in seconds that an answer is stored: as long as its push can be pending for another device.
  package static let answerRetention: Int64 = 30 * 86_400
  /// The maximum number of groups, of the members of a group, and of the devices of one push to a group. All copies
  /// of such a push are one commit, which other pushes wait for.
  package static let maximumGroups = 1_000
  package static let maximumGroupMembers = 1_000
  package static let maximumGroupDevices = 5_000
  /// The maximum number of copies of pushes to groups that are stored at once, unless a single push has more: 0.1 MB
  /// of the disk, and the payloads.
  package static let groupCopiesAtOnce = 1_000
  /// The maximum number of pushes to groups queued for storing: 1 MB of payloads, and 20 MB of recipients if all go
  /// to the largest groups.
  package static let waitingGroupPushes = 256
  /// The number of pushes to groups whose recipients are stored, so that one answer counts for all: 70 MB of the disk
  /// if all went to the largest groups.
  package static let rememberedGroupPushes = 10_000
  /// The maximum number of an app's retracted pushes that are remembered, counted for each user; the oldest are
  /// forgotten. One takes about 150 bytes of memory.
  package static let maximumRetractions = 100_000
  /// The time in seconds that a retraction is remembered: as long as a push can be pending.
  package static let retractionRetention: Int64 = 30 * 86_400
  /// The maximum number of administrators' actions in the audit trail, and the bytes of each body in it: about 200 MB
  /// at most.
  package static let maximumAuditRecords = 100_000
  package static let maximumAuditedBody = 2_048
  /// The maximum number of statuses and records of the audit trail that are kept in memory after a failed write; then
  /// the oldest is dropped.
  package static let maximumLateAuditAdditions = 1_000
  /// The maximum number of requests an hour in the audit trail that were refused for the role of the client: of one
  /// client, and of all. So refused requests can't fill the audit trail.
  package static let maximumAuditedRefusals = 20
  package static let maximumAuditedRefusalsInAll = 200
  /// The maximum number of administrators' tokens: more than there are administrators.
  package static let maximumAdministratorTokens = 1_000
  /// The maximum validity in days of an administrator's token.
  package static let maximumAdministratorTokenDays = 3650
  /// The maximum numbers of senders of messages, and of the recipients of one.
  package static let maximumMessageSenders = 1_000
  package static let maximumMessageRecipients = 100
  /// The usual and the maximum number of messages in a minute of a sender: one in a second, and as many as a program
  /// with a provider token needs.
  package static let standardMessageRate = 60
  package static let maximumMessageRate = 6_000
  /// The maximum time in seconds in which equal messages of a sender become one, and the number of different messages
  /// that a gateway counts at the same time: some megabytes.
  package static let maximumCombineTime = 7 * 86_400
  package static let maximumMessageRepeats = 10_000
  /// The maximum interval of an expected heartbeat in seconds, and that of its grace: a year, as for a yearly task.
  package static let maximumHeartbeatTime = 366 * 86_400
  /// The maximum number of late heartbeats that one transaction records: at most a thousand pushes.
  package static let lateHeartbeatsAtOnce = 10
  /// The maximum size in bytes of a message's request: that of a payload.
  package static let maximumMessageSize = maximumPayloadSize
  /// The maximum size in bytes of the body of a webhook: alerts of a group with 200 members, or an event of a code host.
  /// A client without a credential may have four of them incomplete (``maximumUnauthenticatedSize``), and each connection
  /// of HTTP/1.1 one (``maximumHTTP1Connections``).
  package static let maximumHookSize = 256 << 10
  /// The maximum number of subjects of a webhook that are stored with the id of their last push.
  package static let maximumHookSubjects = 1_000
  /// The maximum number of alerts of a group that a message describes.
  package static let maximumHookLines = 10
  /// The maximum size in bytes of a JSON pointer to a field of a webhook.
  package static let maximumPointerSize = 256
  /// The maximum number of event targets, and of the apps that one of them names. Each target has one request at a time.
  package static let maximumEventTargets = 16
  package static let maximumEventTargetApps = 100
  /// The maximum number of events in a request to an event target, and the maximum size of its body in bytes: less than
  /// the usual limits of web servers. A single larger event is a request of its own.
  package static let maximumEventBatch = 500
  package static let maximumEventBatchSize = 256 << 10
  /// The maximum size in bytes of the address of an event target, and of the certificates that it trusts.
  package static let maximumEventAddressSize = 2_048
  package static let maximumEventAuthoritySize = 64 << 10
  /// The bytes of the body of an event target's answer that are kept, and the bytes of its whole answer that are read,
  /// with the handshake.
  package static let keptEventAnswer = 1_024
  package static let maximumEventAnswerSize = 256 << 10
  /// The longest time in seconds that an event target may request with `retry-after`, and the time for which a former
  /// secret signs, too.
  package static let maximumEventPause = 86_400
  package static let formerSecretTime: Int64 = 86_400
  /// The age in seconds of the oldest unsent event from which health reports a late event target.
  package static let lateEventTime: Int64 = 300
  /// The maximum size in bytes of the request of a message in the form of another API: programs send more than the
  /// message in it, such as all labels of an alert. The payload has the usual limit.
  package static let maximumForeignMessageSize = 32 << 10
  /// The characters of the text of an alert of Grafana, as in the template of ntfy.
  package static let maximumTemplateText = 2000
  /// The maximum size in bytes of a Web Push message with its encryption, which each push service has to accept (RFC 8030
  /// §7.2).
  package static let maximumWebPushSize = 4096
  /// The maximum size in bytes of the topic of a Web Push message (RFC 8030 §5.4).
  package static let maximumWebPushTopic = 32
  /// The maximum number of Web Push endpoints of a device, and of its removed ones that still answer 410: one for each
  /// website of a user.
  package static let maximumDeviceEndpoints = 100
  /// The time in seconds for which a removed endpoint answers 410, after which it is unknown: as long as a push can be
  /// pending.
  package static let endpointRetention: Int64 = 30 * 86_400
  /// The number of messages in a minute that an endpoint takes: those of a usual sender.
  package static let endpointRate = standardMessageRate
  /// The maximum validity in seconds of a sender's VAPID token (RFC 8292 §2).
  package static let maximumVAPIDValidity: Int64 = 86_400
  /// The maximum size in bytes of the content of a Web Push message to a closed page, so that the encrypted message is
  /// below ``maximumWebPushSize``, and of one after the push service answered 413.
  package static let maximumPageMessage = 3_800
  package static let shortPageMessage = 1_000
  /// The maximum sizes in bytes of the endpoint of a subscription, and of the name of the Focus of its device.
  package static let maximumSubscriptionEndpoint = 1_024
  package static let maximumSubscriptionFocus = 255
  /// The maximum number of messages to the closed page of one device that are queued; then the oldest is dropped. The same
  /// number of messages that were posted is remembered, for retractions.
  package static let maximumPageQueue = 20
  /// The maximum number of simultaneous requests to push services, each on a connection of its own.
  package static let maximumPagePosts = 16
  /// The time in milliseconds that a page has to acknowledge a push before its push service gets it, and the time that a
  /// page with an open stream has: browsers freeze pages and keep their connections.
  package static let pageGrace: Int64 = 3_000
  package static let frozenPageGrace: Int64 = 15_000
  /// The longest time in seconds that push services keep a message: a longer one is refused by some.
  package static let maximumPageLifetime: Int64 = 28 * 86_400
  /// The time in seconds for which a push service keeps a retraction, and for which a retraction is attempted.
  package static let pageRetractionTime: Int64 = 86_400
  /// The validity in seconds of the gateway's own VAPID tokens, and the time for which one is used again.
  package static let pageTokenValidity: Int64 = 12 * 3_600
  package static let pageTokenReuse: Int64 = 3_600
  /// The maximum number of devices in the answer to a message. Each costs a decision on an event loop.
  package static let maximumAnsweredDevices = 100
  /// The pages of the database's write-ahead log at which a writer starts a checkpoint: 32 MB, three times the size
  /// that the mailbox leaves.
  package static let maximumDatabaseLogPages = 8_192
  /// The maximum number of streams of one device; each push for the device is written to all of them. More than the
  /// terminals of a user.
  package static let maximumDeviceStreams = 16

  /// The interval in milliseconds at which a gateway stores the use of alerts and evaluates the standing of apps (N11).
  package static let standingInterval: Int64 = 60_000
  /// The longest exemption in seconds of an app from rule N11: a year.
  package static let maximumExemption: Int64 = 366 * 86_400

  // MARK: Limits of stored data

  /// The highest number in a row of the databases (``ColumnBounds``). Numbers increase one by one, at most from
  /// ``maximumCursor``, so that all assigned numbers stay far below.
  package static let maximumNumber: Int64 = 1 << 54
  /// The latest time that RFC 3339 can represent, in seconds since 1970: the end of the year 9999.
  package static let maximumTime: Int64 = 253_402_300_799
  /// The maximum size in bytes of a file of the state folder in a backup; SQLite accepts no value of 1 GB.
  package static let maximumSavedFileSize = 512 << 20
  /// The maximum size in bytes of a text or blob that a repair reads: larger than any that the gateway writes, and
  /// small enough for a row of several.
  package static let maximumRepairedValueSize = 64 << 20
  /// The maximum depth of the pages of a table that a repair reads; SQLite reads no deeper trees.
  package static let maximumTreeDepth = 20
  /// The maximum nesting depth of a payload that an earlier version accepted: a repair keeps the payload, and the
  /// device is notified at its delivery.
  package static let maximumStoredDepth = 1024
  /// The maximum number of aliases in a YAML file of settings or faults: they make at most 243 times as many values as
  /// the text has.
  package static let maximumYAMLAliases = 16
}
