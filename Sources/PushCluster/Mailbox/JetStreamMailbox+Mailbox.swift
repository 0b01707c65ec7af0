import PushStorage

extension JetStreamMailbox: Mailbox {}
