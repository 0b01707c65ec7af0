// Its parts are in several files, none of which needs to know the others for this.
extension SQLiteRegistrations: Registrations {}
