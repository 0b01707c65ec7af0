/// The phrases of all other notifications in the same languages.
extension AdLexicon {
  static let foreignOtherPhrases: [(AdConcept, String)] = [
    (
      .code,
      """
      código de verificación|es tu código|código de acceso|é o seu código|código de acesso|votre code|\
      code de vérification|bestätigungscode|anmeldecode|codice di verifica|è il tuo codice|認証コード|\
      確認コード|인증번호|확인 코드|код подтверждения|ваш код|код входа|doğrulama kodu|doğrulama kodunuz|\
      giriş kodu|kode verifikasi|kode otp|mã otp|mã xác thực|mã đăng nhập|رمز التحقق|رمز الدخول|सत्यापन कोड|\
      आपका otp|verificatiecode|kod weryfikacyjny|verifieringskod
      """
    ),
    (
      .security,
      """
      inicio de sesión|contraseña|no compartas|novo acesso|senha|não compartilhe|connexion|mot de passe|\
      ne le partagez|neue anmeldung|passwort|nuovo accesso|password|non condividerlo|ログイン|パスワード|\
      暗証番号|로그인|비밀번호|новый вход|пароль|никому не говорите|мошенники|yeni giriş|şifrenizi|login baru|\
      kata sandi|đăng nhập mới|mật khẩu|تسجيل دخول|كلمة المرور|नया लॉगिन|पासवर्ड|wachtwoord|hasło
      """
    ),
    (
      .debit,
      """
      compra de|pago de|cargo de|recibo|se cobrará|compra aprovada|pagamento de|débito|fatura|paiement de|\
      achat de|prélèvement|zahlung von|lastschrift|abgebucht|kartenzahlung|addebito|acquisto di|bolletta|\
      引き落とし|お支払い|ご利用|결제|출금|승인|списание|оплата|покупка|спишется|harcama|ödendi|tahsil|\
      transaksi|pembayaran|tagihan|thanh toán|hóa đơn|شراء|سداد|فاتورة|भुगतान|खर्च हुए|बिल|betaling|płatność
      """
    ),
    (
      .credit,
      """
      has recibido|transferencia|você recebeu|pix de|virement|vous avez reçu|haben erhalten|überweisung|\
      hai ricevuto|bonifico|振込|入金|보냈어요|이체|перевод|зачисление|вам перевели|возврат|reembolso|\
      remboursement|erstattung|rimborso|estorno|返金|환불|havale|yatırıldı|iade|telah diterima|\
      masuk ke rekening|refund|đã nhận|hoàn tiền|حوالة|إيداع|जमा हुए|ontvangen|przelew|zwrot
      """
    ),
    (
      .account,
      """
      saldo|tarjeta terminada|cartão final|solde|carte se terminant|kontostand|ihre karte|carta|残高|카드|잔액|\
      остаток|на счёте|карта|bakiye|số dư|الرصيد|शेष|saldo op|rekening
      """
    ),
    (
      .order,
      """
      tu pedido|pedido|seu pedido|votre commande|ihre bestellung|bestellung|il tuo ordine|ordine|ご注文|\
      ваш заказ|заказ|siparişiniz|sipariş|pesanan|đơn hàng|طلبك|आपका ऑर्डर|bestelling|zamówienie
      """
    ),
    (
      .parcel,
      """
      en reparto|tu paquete|ha salido|entregado|saiu para entrega|encomenda|foi entregue|colis|\
      en cours de livraison|a été livré|sendung|zugestellt|unterwegs|pacco|in consegna|è stato consegnato|\
      お荷物|配達|発送|배송|택배|배달|посылка|курьер|доставлен|в пункте выдачи|kargonuz|kurye|teslim edildi|\
      kurir|sedang diantar|kiện hàng|shipper|đang giao|đã giao|شحنتك|المندوب|خرج للتوصيل|पार्सल|डिलीवरी वाला|\
      pakket|bezorgd|przesyłka|kurier
      """
    ),
    (
      .appointment,
      """
      cita|reunión|recuerda|lembrete|consulta|reunião|rendez-vous|rappel|réunion|termin|erinnerung|besprechung|\
      promemoria|appuntamento|riunione|予定|リマインダー|일정|회의|напоминание|встреча|собрание|toplantı|\
      randevu|rapat|jadwal|lịch họp|nhắc lịch|اجتماع|موعد|बैठक|afspraak|spotkanie
      """
    ),
    (
      .transport,
      """
      vuelo|tren|retraso|puerta|voo|trem|portão|vol|retard|flug|zug|gate|verspätung|volo|treno|便|搭乗|지연|\
      탑승|рейс|поезд|задержан|посадка
      """
    ),
    (
      .medical,
      """
      dra|médico|análisis|receta|exame|ordonnance|analyse|rezept|arzt|referto|medico|検査|診察|처방전|진료|\
      анализы|врач|рецепт
      """
    ),
    (
      .school,
      """
      colegio|clase|alumnos|escola|aula|école|classe|schule|klasse|unterricht|scuola|学校|保護者会|給食|휴교|\
      학부모|школа|уроки|класс|veli toplantısı|phụ huynh|مجلس الآباء|مدرسة|स्कूल|पीटीएम
      """
    ),
    (
      .weather,
      """
      lluvia|tormenta|chuva|pluie|orage|regen|sturm|pioggia|temporale|大雨|警報|호우|дождь|ветер|fırtına|yağmur|\
      hujan|banjir|mưa|bão|أمطار|बारिश
      """
    ),
    (
      .news,
      """
      gobierno|inflación|governo|inflação|gouvernement|inflation|regierung|inflazione|政府|物価|정부|물가|\
      правительство|инфляция|enflasyon|meclis|hükümet|pemerintah|polisi|inflasi|chính phủ|công an|lạm phát|\
      الحكومة|التضخم|सरकार|महंगाई|regering|rząd
      """
    ),
    (
      .secrecy,
      """
      kimseyle paylaşmayın|jangan berikan|jangan bagikan|không chia sẻ|لا تشاركه|किसी को न बताएं|\
      deel deze code niet|nie podawaj
      """
    ),
    (
      .personal,
      """
      canım|abi|anne|tamam|iya|wkwk|gpp|nhé|nha|ừ|dạ|طيب|تمام|ههههه|हाँ|भाई|je t'aime|ti voglio bene|\
      te quiero|te amo|ich hab dich lieb|мам|ребята|спасибо|привет|jaja|kkk|mdr|ㅋㅋ|ㅎㅎ
      """
    ),
    (
      .renewal,
      """
      yenilenecek|aboneliğiniz|diperpanjang|berakhir|gia hạn|hết hạn|يتجدد|नवीनीकृत|समाप्त|se renueva|caduca|\
      expire le|résilié|verlängert sich|gekündigt|läuft aus|si rinnova|scade|disdetto|vence em|cancelada|\
      продлится|заканчивается|отменена|更新されます|解約|갱신|해지
      """
    ),
  ]
}
