/// The language of a text, as far as the rules depend on it: its script, and if it is English.
enum TextLanguage: Sendable, Equatable {
  case english
  /// Another language whose script has capitals.
  case cased
  /// A script without capitals: Chinese, Japanese, Korean, Arabic, Hebrew, Thai, Devanagari and others.
  case uncased

  /// Detects the language of all texts of one alert together, because longer texts give more evidence.
  ///
  /// Latin letters without a sign of another language count as English.
  init(of texts: [String]) {
    var letters = Letters()
    var (english, foreign) = (0, 0)
    for text in texts {
      letters.count(text)
      for word in TextLanguage.words(of: text) {
        if TextLanguage.englishWords.contains(word) { english += 1 }
        if TextLanguage.foreignWords.contains(word) { foreign += 1 }
      }
    }
    if letters.areUncased {
      self = .uncased
    } else if letters.otherCased > letters.latin {
      self = .cased
    } else {
      self = foreign > english || letters.accents > 0 && english == 0 ? .cased : .english
    }
  }

  /// Returns true if most letters of a text are of a script without capitals.
  static func isUncased(_ text: String) -> Bool {
    var letters = Letters()
    letters.count(text)
    return letters.areUncased
  }

  /// The numbers of letters of each kind.
  private struct Letters {
    var latin = 0
    var accents = 0
    var otherCased = 0
    var uncased = 0

    /// True if most letters have no case. A few Latin words in a Chinese text are names of products, and a Chinese
    /// name in an English text does not make the text Chinese.
    var areUncased: Bool { uncased * 2 > latin + otherCased }

    mutating func count(_ text: String) {
      for scalar in text.unicodeScalars {
        let value = scalar.value
        if value < 0x80 {
          if (0x61...0x7A).contains(value | 0x20) { latin += 1 }
        } else if (0x4E00...0x9FFF).contains(value) {
          uncased += 1
        } else if value < 0x250 || (0x1E00...0x1EFF).contains(value) {
          if scalar.properties.isAlphabetic { (latin, accents) = (latin + 1, accents + 1) }
        } else if scalar.properties.isAlphabetic {
          if scalar.properties.isCased { otherCased += 1 } else { uncased += 1 }
        }
      }
    }
  }

  /// Returns the words of a text in small letters: runs of Latin letters.
  private static func words(of text: String) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    for byte in text.lowercased().utf8 {
      if (0x61...0x7A).contains(byte) || (0xC3...0xC5).contains(byte) || !word.isEmpty && (0x80...0xBF).contains(byte) {
        word.append(byte)
      } else if !word.isEmpty {
        words.append(String(decoding: word, as: UTF8.self))
        word.removeAll(keepingCapacity: true)
      }
    }
    if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }

  /// English words that few other languages have.
  private static let englishWords: Set<String> = [
    "the", "of", "and", "to", "is", "are", "your", "you", "with", "from", "has", "have", "been", "this", "that", "for",
    "new", "now", "it", "its", "at", "by", "will", "can", "be", "we", "not", "ready", "order", "message", "update",
  ]

  /// Words of German, French, Spanish, Portuguese, Italian, Dutch, the Nordic languages, Polish, Turkish and
  /// Indonesian that occur in notifications and are not English words.
  private static let foreignWords: Set<String> = [
    "der", "das", "und", "ist", "nicht", "ein", "eine", "einen", "ihre", "ihr", "sie", "für", "mit", "von", "wurde",
    "neue", "neuer", "neues", "nachricht", "bestellung", "unterwegs", "paket", "termin", "konto", "zahlung", "heute",
    "morgen", "zug", "verspätet", "auf", "aus", "bei", "wird", "haben", "sind", "zu", "im", "am", "zum", "zur", "dein",
    "deine", "rechnung", "lieferung", "anruf", "verpasster", "le", "les", "une", "est", "votre", "vous", "pour", "dans",
    "avec", "sur", "du", "nouveau", "nouvelle", "commande", "colis", "livraison", "rendez", "aujourd", "et", "au",
    "aux", "qui", "pas", "el", "los", "las", "una", "para", "por", "con", "su", "tu", "está", "nuevo", "nueva",
    "mensaje", "pedido", "enviado", "cuenta", "pago", "hoy", "mañana", "del", "ha", "sido", "il", "gli", "che", "di",
    "nuovo", "nuova", "messaggio", "ordine", "spedito", "oggi", "conto", "pagamento", "um", "uma", "os", "não", "seu",
    "sua", "você", "novo", "nova", "mensagem", "conta", "foi", "het", "een", "voor", "met", "van", "uw", "je", "jouw",
    "nieuw", "nieuwe", "bericht", "bestelling", "vandaag", "och", "att", "det", "är", "för", "ett", "din", "nytt",
    "ny", "meddelande", "og", "til", "er", "ikke", "på", "nie", "jest", "się", "na", "nowa", "wiadomość", "bir", "ve",
    "için", "yeni", "mesaj", "yang", "dan", "untuk", "dengan", "anda", "pesan", "baru", "ja", "uusi", "viesti",
  ]
}
