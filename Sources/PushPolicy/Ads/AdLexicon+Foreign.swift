/// The phrases of other languages: Spanish, Portuguese, French, German, Italian, Japanese, Korean, Russian, and a few
/// others. Marks are folded, so that the spelling without them matches too.
extension AdLexicon {
  static let foreignPhrases: [(AdConcept, String)] = [
    (
      .priceCut,
      """
      descuento|descuentos|rebajas|rebaja|% menos|a mitad de precio|2x1|dos por uno|liquidación|\
      ha bajado de precio|desconto|descontos|promoção|liquidação|saldão|pela metade do preço|queima de estoque|\
      baixou de preço|réduction|remise|soldes|à moitié prix|déstockage|rabatt|reduziert|zum halben Preis|\
      günstiger|ausverkauf|schlussverkauf|2 für 1|sconto|sconti|scontati|saldi|svendita|a metà prezzo|割引|半額|\
      値下げ|セール|%オフ|オフ|할인|세일|반값|특가|скидка|скидки|скидкой|распродажа|за полцены|дешевле на|\
      подешевели
      """
    ),
    (
      .offer,
      """
      oferta|ofertas|ofertas exclusivas|promoción|oferta relâmpago|oferta especial|offre|offres|bon plan|\
      bons plans|vente flash|angebot|angebote|blitzangebot|angebot des tages|offerta|offerte|promozione|\
      offerta lampo|お得|お買い得|キャンペーン|特別価格|기획전|혜택|이벤트|акция|акции|по акции|предложение|\
      горячее предложение|выгодно
      """
    ),
    (
      .coupon,
      """
      cupón|usa el código|código promocional|cupom|use o cupom|vale-compra|bon d'achat|avec le code|code promo|\
      gutschein|gutscheincode|mit dem code|buono|usa il codice|codice sconto|クーポン|割引券|쿠폰|적립금|промокод|\
      по промокоду|купон
      """
    ),
    (
      .freebie,
      """
      gratis|de regalo|envío gratis|regalo|grátis|de graça|brinde|frete grátis|gratuit|gratuitement|offert|\
      offerte|offerts|livraison offerte|cadeau|kostenlos|geschenkt|umsonst|gratis versand|versandkostenfrei|\
      gratuito|in regalo|spedizione gratuita|omaggio|無料|プレゼント|送料無料|무료|무료배송|증정|사은품|бесплатно|\
      бесплатная доставка|в подарок|подарок
      """
    ),
    (
      .buyCall,
      """
      compra ya|compra ahora|aprovecha|llévate|pide ya|pide ahora|consigue|compre agora|compre já|aproveite|\
      peça já|garanta|achetez|commandez|profitez|profitez-en|commandez vite|jetzt kaufen|jetzt bestellen|\
      jetzt shoppen|bestell|hol dir|sichere dir|jetzt zugreifen|compra ora|acquista|acquista ora|approfittane|\
      ordina ora|ordina|お買い求め|ご注文|ご購入|今すぐ|구매하세요|주문하세요|쇼핑|지금 구매|купите|закажите|\
      заказывайте|покупайте|успейте купить|забирай|получите
      """
    ),
    (
      .clickCall,
      """
      descubre|entra en|ven a ver|descubra|conheça|confira|venha ver|découvrez|venez voir|cliquez|entdecke|\
      schau mal|jetzt entdecken|scopri|vieni a vedere|clicca|ご覧ください|チェック|확인하세요|만나보세요|구경|\
      посмотрите|загляните|переходите|узнайте
      """
    ),
    (
      .applyCall,
      """
      suscríbete|apúntate|inscríbete|regístrate|solicítalo|contrata|assine|inscreva-se|cadastre-se|solicite|\
      simule|abonnez-vous|inscrivez-vous|demandez|souscrivez|jetzt anmelden|anmelden|jetzt beantragen|abonnieren|\
      iscriviti|abbonati|richiedilo|お申し込み|ご登録|ご予約|신청|가입하세요|구독|подключите|оформите|запишитесь|\
      подпишитесь|регистрируйтесь
      """
    ),
    (
      .urgency,
      """
      solo hoy|hasta el domingo|últimas horas|último día|no te lo pierdas|por tiempo limitado|date prisa|só hoje|\
      último dia|não perca|por tempo limitado|aujourd'hui seulement|dernières heures|dernier jour|dépêchez-vous|\
      durée limitée|nur heute|nur noch|letzte chance|letzter tag|nicht verpassen|für kurze zeit|solo oggi|\
      ultime ore|ultimo giorno|non perdere|per poco tempo|本日限り|期間限定|お早めに|お見逃しなく|今だけ|오늘만|\
      마감 임박|서두르세요|놓치지 마세요|기간 한정|только сегодня|успейте|последний день|последние часы|\
      не упустите|торопитесь
      """
    ),
    (
      .scarcity,
      """
      últimas plazas|plazas limitadas|hasta agotar existencias|quedan pocas|últimas vagas|vagas limitadas|\
      enquanto durar o estoque|últimas unidades|dernières places|places limitées|dans la limite des stocks|\
      solange der vorrat reicht|nur noch wenige|wenige plätze|bald ausverkauft|ultimi posti|posti limitati|\
      fino a esaurimento|ultimi pezzi|残りわずか|数量限定|先着|선착순|품절 임박|한정|мест мало|\
      количество ограничено|осталось мало|разбирают
      """
    ),
    (
      .winBack,
      """
      te echamos de menos|te extrañamos|en tu carrito|en tu cesta|sentimos sua falta|saudade de você|no carrinho|\
      vous nous manquez|dans votre panier|revenez|wir vermissen dich|im warenkorb|komm zurück|ci manchi|\
      nel carrello|お久しぶりです|カートに|お買い物かご|보고 싶었어요|오랜만이에요|장바구니에|мы скучаем|\
      мы скучали|возвращайтесь|вернитесь|в корзине
      """
    ),
    (
      .upsell,
      """
      premium|prueba gratis|sin anuncios|plan anual|teste grátis|sem anúncios|plano anual|essai gratuit|\
      sans publicité|passez à|kostenlos testen|werbefrei|upgrade auf|prova gratis|senza pubblicità|passa a|\
      プレミアム|広告なし|無料体験|見放題|프리미엄|광고 없이|무제한|без рекламы|подписку|премиум
      """
    ),
    (
      .loan,
      """
      préstamo|crédito|preaprobado|empréstimo|pré-aprovado|prêt|crédit|préaccepté|kredit|sofortkredit|prestito|\
      preapprovato|ローン|融資|대출|кредит|заём|одобрен
      """
    ),
    (
      .referral,
      """
      invita a un amigo|trae a un amigo|indique um amigo|convide|parrainez|invitez un ami|wirb einen freund|\
      freunde werben|invita un amico|porta un amico|友だち紹介|お友だち紹介|친구 초대|친구 추천|приведи друга|\
      пригласи друга
      """
    ),
    (
      .travel,
      """
      vuelos|hoteles|escapada|reserva ya|passagens|pacotes|reserve já|vols|séjour|séjours|réservez|flüge|urlaub|\
      jetzt buchen|voli|pacchetti|prenota ora|航空券|ツアー|予約受付中|항공권|지금 예약|билеты от|туры|бронируйте
      """
    ),
    (
      .novelty,
      """
      nueva colección|ya disponible|nova coleção|novidades|nouvelle collection|nouveautés|neue kollektion|\
      neuheiten|nuova collezione|novità|新作|新商品|入荷|신상|출시|новая коллекция|новинки
      """
    ),
    (
      .superlative,
      """
      favoritos|los más vendidos|te va a encantar|mais vendidos|você vai amar|les plus vendus|vous allez adorer|\
      beliebtesten|du wirst es lieben|più venduti|te ne innamorerai|人気|おすすめ|인기|추천|популярные|\
      вам понравится
      """
    ),
    (
      .code,
      """
      código de verificación|es tu código|código de acceso|é o seu código|código de acesso|votre code|\
      code de vérification|bestätigungscode|anmeldecode|codice di verifica|è il tuo codice|認証コード|確認コード|\
      인증번호|확인 코드|код подтверждения|ваш код|код входа
      """
    ),
    (
      .security,
      """
      inicio de sesión|contraseña|no compartas|novo acesso|senha|não compartilhe|connexion|mot de passe|\
      ne le partagez|neue anmeldung|passwort|nuovo accesso|password|non condividerlo|ログイン|パスワード|暗証番号|\
      로그인|비밀번호|новый вход|пароль|никому не говорите|мошенники
      """
    ),
    (
      .debit,
      """
      compra de|pago de|cargo de|recibo|se cobrará|compra aprovada|pagamento de|débito|fatura|paiement de|\
      achat de|prélèvement|zahlung von|lastschrift|abgebucht|kartenzahlung|addebito|acquisto di|bolletta|\
      引き落とし|お支払い|ご利用|결제|출금|승인|списание|оплата|покупка|спишется
      """
    ),
    (
      .credit,
      """
      has recibido|transferencia|você recebeu|pix de|virement|vous avez reçu|haben erhalten|überweisung|\
      hai ricevuto|bonifico|振込|入金|보냈어요|이체|перевод|зачисление|вам перевели|возврат|reembolso|\
      remboursement|erstattung|rimborso|estorno|返金|환불
      """
    ),
    (
      .account,
      """
      saldo|tarjeta terminada|cartão final|solde|carte se terminant|kontostand|ihre karte|carta|残高|카드|잔액|\
      остаток|на счёте|карта
      """
    ),
    (
      .order,
      """
      tu pedido|pedido|seu pedido|votre commande|ihre bestellung|bestellung|il tuo ordine|ordine|ご注文|주문|\
      ваш заказ|заказ
      """
    ),
    (
      .parcel,
      """
      en reparto|tu paquete|ha salido|entregado|saiu para entrega|encomenda|foi entregue|colis|\
      en cours de livraison|a été livré|sendung|paket|zugestellt|unterwegs|pacco|in consegna|è stato consegnato|\
      お荷物|配達|発送|배송|택배|배달|посылка|курьер|доставлен|в пункте выдачи
      """
    ),
    (
      .build,
      """
      despliegue|compilación|pruebas|implantação|testes|déploiement|compilation|sauvegarde|pipeline|build|\
      rilascio|ビルド|デプロイ|テスト|빌드|배포|сборка|выкладка|тест
      """
    ),
    (
      .appointment,
      """
      cita|reunión|recuerda|lembrete|consulta|reunião|rendez-vous|rappel|réunion|termin|erinnerung|besprechung|\
      promemoria|appuntamento|riunione|予定|リマインダー|일정|회의|напоминание|встреча|собрание
      """
    ),
    (
      .transport,
      """
      vuelo|tren|retraso|puerta|voo|trem|portão|vol|retard|flug|zug|gate|verspätung|volo|treno|便|搭乗|지연|탑승|\
      рейс|поезд|задержан|посадка
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
      학부모|школа|уроки|класс
      """
    ),
    (
      .weather,
      """
      lluvia|tormenta|chuva|pluie|orage|regen|sturm|pioggia|temporale|大雨|警報|호우|дождь|ветер
      """
    ),
    (
      .news,
      """
      gobierno|inflación|governo|inflação|gouvernement|inflation|regierung|inflazione|政府|物価|정부|물가|\
      правительство|инфляция
      """
    ),
  ]
}
