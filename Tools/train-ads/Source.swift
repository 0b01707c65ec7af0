/// Where rows of the data folder come from, and what their authors allow.
enum Source: String {
  case bagisto, uci
  case blackFriday = "blackfriday_mrs"
  case indiaSMS = "india_sms"
  case indoSMS = "indo_sms"
  case nusEnglish = "nus_en"
  case nusChinese = "nus_zh"
  case ownTrain = "own_train"
  case prometheusAlerts = "prometheus_alerts"
  case spree = "spree_i18n"
  case telegramRussian = "telegram_ru"
  case thaiSMS = "thai_sms"
  case uciTranslated = "uci_mt"
  case vietSMS = "viet_sms"
  case chineseSpam = "zh_spam80w"

  /// The licence that the source states for itself; nil for none, or for one that nobody has confirmed.
  var licence: String? {
    switch self {
    case .ownTrain: "the project's own"
    case .bagisto, .blackFriday, .indiaSMS, .thaiSMS: "MIT"
    case .spree: "BSD-3-Clause"
    case .prometheusAlerts: "CC BY 4.0"
    case .telegramRussian: "GPL-3.0"
    // Its page says CC BY 4.0, the copies of it say nothing, and parts of it are from collections that say nothing.
    case .uci, .uciTranslated: nil
    case .indoSMS, .nusEnglish, .nusChinese, .vietSMS, .chineseSpam: nil
    }
  }

  /// Whether the embedded model may learn from it: its licence lets anyone use, change and pass on what is made of it, with no
  /// more than its authors' names.
  var isPermissive: Bool {
    switch licence {
    case nil, "GPL-3.0": false
    default: true
    }
  }
}
