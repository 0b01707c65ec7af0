/// The phrases of advertising in other languages: Spanish, Portuguese, French, German, Italian, Japanese, Korean, Russian,
/// Turkish, Indonesian, Vietnamese, Arabic, Hindi, and a few in Dutch, Polish and Swedish. Marks are folded.
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
      подешевели|indirim|indirimli|indirimde|yarı fiyatına|ucuz|daha ucuz|kampanya|tasfiye|sezon sonu|diskon|\
      potongan|potongan harga|obral|cuci gudang|setengah harga|lebih murah|turun harga|banting harga|giảm giá|\
      giảm|giảm đến|nửa giá|xả kho|đồng giá|khuyến mãi|thanh lý|khuyến mại|خصم|خصومات|تخفيضات|تخفيض|\
      نصف السعر|تصفية|بخصم|छूट|छूट पाएं|सेल|महासेल|आधे दाम|सस्ते|सबसे कम दाम|korting|uitverkoop|halve prijs|\
      afgeprijsd|promocja|przecena|wyprzedaż|zniżka|zniżki|rabat|taniej|rebajado|rebajados|de descuento|\
      % de réduction|en promo|promos|preissturz|reduzierte|im preis gesenkt|ribassi|ribassato|em promoção|\
      baixou|скидок|со скидкой|цены ниже|дешевле
      """
    ),
    (
      .offer,
      """
      oferta|ofertas|ofertas exclusivas|promoción|oferta relâmpago|oferta especial|offre|offres|bon plan|\
      bons plans|vente flash|angebot|angebote|blitzangebot|angebot des tages|offerta|offerte|promozione|\
      offerta lampo|お得|お買い得|キャンペーン|特別価格|기획전|혜택|이벤트|акция|акции|по акции|предложение|\
      горячее предложение|выгодно|fırsat|fırsatı|fırsatlar|günün fırsatı|süper fırsat|penawaran|promo|\
      flash sale|promo spesial|ưu đãi|deal sốc|siêu sale|deal hot|عرض|عروض|العرض|عرض اليوم|أقوى العروض|ऑफर|डील|\
      धमाका|बंपर|aanbieding|aanbiedingen|erbjudande|oferty|okazja|chollo|ganga|ofertón|super offre|schnäppchen|\
      aktionspreis|tagesangebot|superofferta|promoção relâmpago|выгода|выгодная цена|спецпредложение|특별가|\
      타임딜|특가세일|タイムセール|特価
      """
    ),
    (
      .coupon,
      """
      cupón|usa el código|código promocional|cupom|use o cupom|vale-compra|bon d'achat|avec le code|code promo|\
      gutschein|gutscheincode|mit dem code|buono|usa il codice|codice sconto|クーポン|割引券|쿠폰|적립금|\
      промокод|по промокоду|купон|kupon|kuponu|indirim kuponu|kupon kodu|hediye çeki|kode promo|kode voucher|\
      voucher|pakai kode|mã giảm giá|nhập mã|phiếu quà tặng|dùng mã|كوبون|قسيمة|كود|كود الخصم|कूपन|वाउचर|\
      कैशबैक|कोड|kortingscode|waardebon|kod rabatowy|kupon rabatowy|rabattkod|cheque regalo|bon de réduction|\
      rabattcode|codice promo|vale desconto|할인쿠폰|クーポンコード
      """
    ),
    (
      .freebie,
      """
      gratis|de regalo|envío gratis|regalo|grátis|de graça|brinde|frete grátis|gratuit|gratuitement|offert|\
      offerte|offerts|livraison offerte|cadeau|kostenlos|geschenkt|umsonst|gratis versand|versandkostenfrei|\
      gratuito|in regalo|spedizione gratuita|omaggio|無料|プレゼント|送料無料|무료|무료배송|증정|사은품|\
      бесплатно|бесплатная доставка|в подарок|подарок|bedava|ücretsiz|hediye|kargo bedava|ücretsiz kargo|\
      gratis ongkir|bebas ongkir|bonus|hadiah|beli 1 gratis 1|miễn phí|freeship|miễn phí vận chuyển|\
      tặng kèm|quà tặng|مجانا|مجاني|توصيل مجاني|شحن مجاني|هدية|मुफ्त|फ्री|उपहार|मुफ्त डिलीवरी|\
      gratis verzending|darmowa dostawa|za darmo|w prezencie|fri frakt
      """
    ),
    (
      .buyCall,
      """
      compra ya|compra ahora|aprovecha|llévate|pide ya|pide ahora|consigue|compre agora|compre já|aproveite|\
      peça já|garanta|achetez|commandez|profitez|profitez-en|commandez vite|jetzt kaufen|jetzt bestellen|\
      jetzt shoppen|bestell|hol dir|sichere dir|jetzt zugreifen|compra ora|acquista|acquista ora|approfittane|\
      ordina ora|ordina|お買い求め|ご注文|ご購入|今すぐ|구매하세요|주문하세요|쇼핑|지금 구매|купите|закажите|\
      заказывайте|покупайте|успейте купить|забирай|получите|hemen al|satın al|sipariş ver|alışverişe başla|\
      kaçırma|beli sekarang|belanja|belanja sekarang|belanja yuk|pesan sekarang|checkout sekarang|mua ngay|\
      đặt ngay|mua sắm|chốt đơn|đặt hàng ngay|تسوق|تسوق الآن|اشتر|اشتر الآن|اطلب|اطلب الآن|अभी खरीदें|\
      खरीदें|ऑर्डर करें|अभी ऑर्डर करें|koop nu|bestel nu|kup teraz|zamów|köp nu|handla nu|cómpralo|achète|\
      à commander|schlag zu|shoppe|acquistalo|compre|покупай|заказывай
      """
    ),
    (
      .clickCall,
      """
      descubre|entra en|ven a ver|descubra|conheça|confira|venha ver|découvrez|venez voir|cliquez|entdecke|\
      schau mal|jetzt entdecken|scopri|vieni a vedere|clicca|ご覧ください|チェック|확인하세요|만나보세요|\
      посмотрите|загляните|переходите|узнайте|keşfet|tıkla|göz at|cek sekarang|cek yuk|klik|kunjungi|xem ngay|\
      khám phá|bấm vào|شاهد|اكتشف|زوروا|اضغط|अभी देखें|देखें|क्लिक करें|bekijk|ontdek|klik hier|sprawdź|zobacz|\
      odkryj|upptäck|descúbrelo|visítanos|à découvrir|jetzt ansehen|besuche uns|scoprilo|acesse|жмите|заходи|\
      переходи по ссылке|보러가기|바로가기
      """
    ),
    (
      .applyCall,
      """
      suscríbete|apúntate|inscríbete|regístrate|solicítalo|contrata|assine|inscreva-se|cadastre-se|solicite|\
      simule|abonnez-vous|inscrivez-vous|demandez|souscrivez|jetzt anmelden|anmelden|jetzt beantragen|\
      abonnieren|iscriviti|abbonati|richiedilo|お申し込み|ご登録|ご予約|신청|가입하세요|구독|подключите|\
      оформите|запишитесь|подпишитесь|регистрируйтесь|hemen başvur|abone ol|üye ol|kayıt ol|rezervasyon yap|\
      daftar sekarang|ajukan sekarang|đăng ký|đăng ký ngay|đặt lịch|سجل الآن|اشترك|اشترك الآن|احجز|احجز الآن|\
      قدم الآن|आवेदन करें|अभी आवेदन करें|रजिस्टर करें|सब्सक्राइब|बुक करें|schrijf je in|meld je aan|boek nu|\
      zapisz się|zarezerwuj|anmäl dig|solicita|inscrivez|réserve|bewerben|jetzt buchen|beantragen|prenota|\
      candidati|reserve|зарегистрируйтесь|подключайте|оформляйте|записывайтесь|お申込み|신청하세요|예약하세요|\
      지원하세요
      """
    ),
    (
      .urgency,
      """
      solo hoy|hasta el domingo|últimas horas|último día|no te lo pierdas|por tiempo limitado|date prisa|\
      só hoje|último dia|não perca|por tempo limitado|aujourd'hui seulement|dernières heures|dernier jour|\
      dépêchez-vous|durée limitée|nur heute|nur noch|letzte chance|letzter tag|nicht verpassen|für kurze zeit|\
      solo oggi|ultime ore|ultimo giorno|non perdere|per poco tempo|本日限り|期間限定|お早めに|お見逃しなく|\
      今だけ|오늘만|마감 임박|서두르세요|놓치지 마세요|기간 한정|только сегодня|успейте|последний день|\
      последние часы|не упустите|торопитесь|sadece bugün|son gün|son saatler|acele et|son fırsat|bugüne özel|\
      hari ini saja|hanya hari ini|buruan|jangan sampai|terbatas|chỉ hôm nay|nhanh tay|ngày cuối|kẻo lỡ|\
      اليوم فقط|لا تفوت|آخر يوم|آخر الساعات|لفترة محدودة|सिर्फ आज|जल्दी करें|आखिरी मौका|आखिरी दिन|मौका न चूकें|\
      alleen vandaag|laatste kans|mis het niet|tylko dziś|ostatnia szansa|nie przegap|bara idag|sista chansen|\
      última oportunidad|dernière chance|nur für kurze|ultima occasione|última chance|последний шанс|\
      поторопитесь|本日限定|今週末|지금만|마지막 기회
      """
    ),
    (
      .scarcity,
      """
      últimas plazas|plazas limitadas|hasta agotar existencias|quedan pocas|últimas vagas|vagas limitadas|\
      enquanto durar o estoque|últimas unidades|dernières places|places limitées|dans la limite des stocks|\
      solange der vorrat reicht|nur noch wenige|wenige plätze|bald ausverkauft|ultimi posti|posti limitati|\
      fino a esaurimento|ultimi pezzi|残りわずか|数量限定|先着|선착순|품절 임박|한정|мест мало|\
      количество ограничено|осталось мало|разбирают|tükeniyor|stoklarla sınırlı|son yerler|stok terbatas|\
      kehabisan|tinggal sedikit|số lượng có hạn|sắp hết hàng|الكمية محدودة|قبل نفاد|المقاعد محدودة|\
      स्टॉक सीमित|सीट सीमित|op is op|beperkte voorraad|ostatnie sztuki|quedan pocos|bientôt épuisé|nur wenige|\
      sta finendo|está acabando|почти разобрали|места ограничены|残席わずか|매진 임박
      """
    ),
    (
      .winBack,
      """
      te echamos de menos|te extrañamos|en tu carrito|en tu cesta|sentimos sua falta|saudade de você|\
      no carrinho|vous nous manquez|dans votre panier|revenez|wir vermissen dich|im warenkorb|komm zurück|\
      ci manchi|nel carrello|お久しぶりです|カートに|お買い物かご|보고 싶었어요|오랜만이에요|장바구니에|\
      мы скучаем|мы скучали|возвращайтесь|вернитесь|в корзине|seni özledik|uzun zaman oldu|sepetindeki|\
      kami kangen|lama tak jumpa|di keranjangmu|nhớ bạn|lâu rồi không gặp|giỏ hàng|اشتقنا لك|افتقدناك|سلتك|\
      आपकी याद|कार्ट में|we missen je|in je winkelmandje|tęsknimy|w koszyku|saknar dig
      """
    ),
    (
      .upsell,
      """
      premium|prueba gratis|sin anuncios|plan anual|teste grátis|sem anúncios|plano anual|essai gratuit|\
      sans publicité|passez à|kostenlos testen|werbefrei|upgrade auf|prova gratis|senza pubblicità|passa a|\
      プレミアム|広告なし|無料体験|見放題|프리미엄|광고 없이|무제한|без рекламы|подписку|премиум|reklamsız|\
      yıllık plan|aile paketi|tanpa iklan|paket tahunan|không quảng cáo|gói năm|nâng cấp|بدون إعلانات|الباقة|\
      बिना विज्ञापन|सालाना प्लान|zonder reclame|bez reklam|utan reklam|illimitato|ilimitado|illimité|unbegrenzt|\
      безлимит|使い放題|업그레이드
      """
    ),
    (
      .loan,
      """
      préstamo|crédito|preaprobado|empréstimo|pré-aprovado|prêt|crédit|préaccepté|kredit|sofortkredit|prestito|\
      preapprovato|ローン|融資|대출|кредит|заём|одобрен|kredi|ihtiyaç kredisi|nakit avans|pinjaman|dana tunai|\
      tanpa jaminan|vay tiền|vay nhanh|lãi suất thấp|قرض|تمويل|بدون كفيل|लोन|पर्सनल लोन|lening|pożyczka|\
      kredyt|chwilówka
      """
    ),
    (
      .referral,
      """
      invita a un amigo|trae a un amigo|indique um amigo|convide|parrainez|invitez un ami|wirb einen freund|\
      freunde werben|invita un amico|porta un amico|友だち紹介|お友だち紹介|친구 초대|친구 추천|приведи друга|\
      пригласи друга|arkadaşını davet et|ajak teman|giới thiệu bạn|mời bạn|ادع صديقك|दोस्त को बुलाएं|\
      nodig een vriend uit|poleć znajomemu
      """
    ),
    (
      .travel,
      """
      vuelos|hoteles|escapada|reserva ya|passagens|pacotes|reserve já|vols|séjour|séjours|réservez|flüge|urlaub|\
      jetzt buchen|voli|pacchetti|prenota ora|航空券|ツアー|予約受付中|항공권|지금 예약|билеты от|туры|\
      бронируйте|uçak bileti|tatil|turları|vé máy bay|du lịch|khách sạn|تذاكر|فنادق|رحلات|टिकट|टूर|होटल|\
      vluchten|wakacje
      """
    ),
    (
      .novelty,
      """
      nueva colección|ya disponible|nova coleção|novidades|nouvelle collection|nouveautés|neue kollektion|\
      neuheiten|nuova collezione|novità|新作|新商品|入荷|신상|출시|новая коллекция|новинки|yeni sezon|\
      yeni koleksiyon|yeni gelenler|koleksi baru|baru datang|hàng mới về|bộ sưu tập mới|ra mắt|\
      تشكيلة جديدة|وصل حديثا|नया कलेक्शन|nieuwe collectie|nowa kolekcja|nowości|recién llegado|vient d'arriver|\
      neu eingetroffen|appena arrivati|chegou|поступление|再入荷|재입고
      """
    ),
    (
      .superlative,
      """
      favoritos|los más vendidos|te va a encantar|mais vendidos|você vai amar|les plus vendus|vous allez adorer|\
      beliebtesten|du wirst es lieben|più venduti|te ne innamorerai|おすすめ|인기|추천|популярные|вам понравится
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
      .trialOffer,
      """
      ücretsiz dene|gratis coba|dùng thử|dùng thử miễn phí|جرب مجانا|मुफ्त आज़माएं|prueba gratis|\
      essai gratuit|gratis testen|prova gratuita|teste grátis|попробуйте бесплатно|お試し|무료 체험
      """
    ),
    (
      .realEstate,
      """
      satılık|kiralık|peşinat|dijual|disewakan|apartemen|căn hộ|đất nền|nhà phố|للبيع|للإيجار|شقة|फ्लैट|\
      प्लॉट|te koop|mieszkanie|działka|obra nueva|piso en|neubau|provisionsfrei|programme neuf|новостройки|\
      ипотека|квартиры|マンション|新築|一戸建て|분양|오피스텔
      """
    ),
    (
      .jobLure,
      """
      eleman aranıyor|iş fırsatı|lowongan|loker|tuyển dụng|مطلوب|وظائف|भर्ती|नौकरी|घर बैठे|vacature|se buscan|\
      on recrute|aushilfen|cercasi|contratamos|заработок|подработка|без вложений|требуются|大募集|日給|알바
      """
    ),
    (
      .course,
      """
      atölye|khóa học|học thử|khai giảng|دورة|كورس|कोचिंग|कोर्स|दाखिला|cursus|szkolenie|cours particuliers|\
      nachhilfe|ripetizioni|aulas|вебинар|марафон|репетитор|体験レッスン|과외|수강
      """
    ),
    (
      .beauty,
      """
      kuaför|güzellik|nha khoa|thẩm mỹ|صالون|عيادة|सैलून|kapper|fryzjer|peluquería|friseur|parrucchiere|salão|\
      салон|маникюр|美容室|エステ|미용실|네일
      """
    ),
    (
      .gameGoods,
      """
      altın kazan|kim cương|جوهرة|عملة|gemas|monedas|joyaux|münzen|edelsteine|gemme|moedas|монет|кристаллов|\
      ジェム|ガチャ|젬|코인
      """
    ),
    (
      .contest,
      """
      çekiliş|undian|menangkan|trúng thưởng|quay số|سحب|اربح|जीतें|इनाम|wygraj|konkurs|sorteo|tirage|gagnez|\
      gewinne|gewinnspiel|vinci|sorteio|ganhe|розыгрыш|выиграйте|当たる|추첨|당첨
      """
    ),
    (
      .saving,
      """
      kazan indirim|tasarruf et|hemat|tiết kiệm|وفر|बचाएं|bespaar|oszczędź|ahorra|économisez|sparen|risparmia|\
      economize|экономьте|экономия|お得に|절약
      """
    ),
    (
      .optOut,
      """
      ret yaz|iptal için|ketik stop|unreg|từ chối|huỷ gửi|لإلغاء|отписаться|отписка|wypisz się|afmelden|\
      para baja|baja envía|stop au|abmelden|per disiscriverti|para sair|配信停止|무료수신거부|수신거부
      """
    ),
    (
      .contact,
      """
      bilgi için|info wa|hotline|للتواصل|اتصل|संपर्क|zadzwoń|llama al|appelez|anrufen|jetzt anrufen|chiama|\
      ligue|звоните|пишите в личку|お電話|문의
      """
    ),
  ]
}
