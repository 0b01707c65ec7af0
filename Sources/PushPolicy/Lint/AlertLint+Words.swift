/// The words and phrases that the rules search for, by language.
extension AlertLint {
  /// T3: titles without information, in scripts whose words can't be counted.
  static let emptyTitles: Set<String> = [
    "错误", "警告", "提示", "注意", "通知", "消息", "提醒", "錯誤", "訊息", "エラー", "警告", "お知らせ", "오류", "알림",
  ]

  /// T7: the English *you, your, me, my*.
  static let personsEnglish: Set<String> = ["you", "your", "yours", "me", "my", "mine", "you're", "you’re", "you've"]

  /// T7: the same in other languages with spaces, without words that have another meaning in a third language.
  static let personsForeign: Set<String> = [
    "dich", "dir", "dein", "deine", "deinen", "deiner", "deinem", "ihnen", "ihre", "ihren", "ihrem", "mein",
    "meine", "meinen", "mir", "mich", "vous", "votre", "vos", "toi", "ton", "tes", "moi", "mon", "mes", "tú", "tus",
    "usted", "ustedes", "mis", "tuo", "tua", "tuoi", "mio", "mia", "miei", "você", "seu", "sua", "meu", "minha",
    "jij", "jouw", "uw", "mijn", "mij", "вы", "вас", "вам", "ваш", "ваша", "ваше", "ваши", "вашу", "ты", "твой", "твоя",
    "твоё", "мой", "моя", "моё", "мне", "anda", "σου", "μου",
  ]

  /// T7: the same in languages without spaces.
  static let personsUnspaced = ["你", "您", "我的", "あなた", "私の", "당신", "귀하", "나의"]

  /// T8: verbs for pressing a button.
  static let pressing: Set<String> = ["tap", "touch", "click", "choose", "press", "select", "hit", "push"]
  /// T8: objects of these verbs, also in addition to the alert's own buttons.
  static let pressed: Set<String> = ["here", "below", "button", "view", "close", "ok", "notification", "link"]
  /// T8: the same in languages without spaces.
  static let pressingUnspaced = [
    "点击查看", "点击这里", "点击此处", "点击下方", "点击按钮", "点击“", "点击「", "轻触查看", "請點擊", "點擊查看", "クリックして", "タップして", "タップすると",
  ]

  /// T9: answers that only repeat the question.
  static let yesAndNo: Set<String> = [
    "yes", "no", "ja", "nein", "oui", "non", "sí", "si", "sim", "não", "да", "нет", "是", "否", "はい", "いいえ", "예", "아니요",
  ]

  /// T10: too familiar words.
  static let chummy: Set<String> = [
    "hey", "yo", "oops", "whoops", "yay", "woohoo", "guys", "buddy", "gonna", "uh-oh", "psst",
  ]

  /// A10: phrases in UTF-8 for progress, for confirmations of the user's own action, and for errors without a
  /// possible action.
  static let needless: [(phrase: [UInt8], why: String)] = [([String], String)]([
    (
      [
        "successfully", "was successful", "has been saved", "changes saved", "logged in as",
        "erfolgreich gespeichert", "enregistré avec succès", "guardado correctamente", "保存成功", "操作成功", "登录成功", "提交成功",
      ],
      "confirms the user's own action"
    ),
    (
      [
        "in progress", "downloading", "uploading", "syncing", "now loading", "% complete", "% done",
        "wird heruntergeladen", "正在下载", "正在上传", "正在同步", "加载中",
      ],
      "reports normal progress"
    ),
    (
      [
        "unknown error", "an error occurred", "an error has occurred", "something went wrong", "unbekannter fehler",
        "erreur inconnue", "error desconocido", "未知错误", "出错了",
      ],
      "reports an error without a possible action"
    ),
  ]).flatMap { phrases, why in phrases.map { (Array($0.utf8), why) } }
}
