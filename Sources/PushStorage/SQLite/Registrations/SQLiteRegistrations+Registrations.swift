// The requirements are implemented in several files, which do not depend on each other.
extension SQLiteRegistrations: Registrations {}
