/// The source of rows of the data folder, and its license.
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

  /// The license that the source states for itself. Nil if there is none, or if it is not confirmed.
  var license: String? {
    switch self {
    case .ownTrain: "the project's own"
    case .bagisto, .blackFriday, .indiaSMS, .thaiSMS: "MIT"
    case .spree: "BSD-3-Clause"
    case .prometheusAlerts: "CC BY 4.0"
    case .telegramRussian: "GPL-3.0"
    // The source's page states CC BY 4.0, but its copies and some of its collections have no license statement.
    case .uci, .uciTranslated: nil
    case .indoSMS, .nusEnglish, .nusChinese, .vietSMS, .chineseSpam: nil
    }
  }

  /// True if the embedded model may be trained on the source: its license permits anyone to use, change and
  /// redistribute derived works, with attribution as the only condition.
  var isPermissive: Bool {
    switch license {
    case nil, "GPL-3.0": false
    default: true
    }
  }
}
