import type { Language } from '../../kit/language.ts'

/** The sentences of the mails to buyers, in the languages of the pages. */
export interface MailWords {
  receipt: string
  refund: string
  paid: string
  refunded: string
  /** To the order's address: the buyer says at the link where it goes. */
  refundedTransfer: string
  seller: string
  discount: string
  total: string
  link: string
  attached: string
  why: string
  test: string
  testTokens: string
}

export const MAIL_WORDS: Readonly<Record<Language, MailWords>> = {
  en: {
    receipt: 'Receipt: {product}',
    refund: 'Refund: {product}',
    paid: 'Thank you. Your payment has arrived.',
    refunded: '{amount} went back to the wallet that you paid from.',
    refundedTransfer:
      '{amount} went back to the address that you sent it to. Open your purchase and enter an address of yours there: the money goes on to it.',
    seller: 'Seller',
    discount: 'Discount',
    total: 'Total',
    link: 'Your purchase and its receipts stay at this address:',
    attached: 'The receipt is attached as a PDF.',
    why: 'You get this mail because this address was entered at the payment. If you did not pay, ignore it.',
    test: 'Test: no money has moved.',
    testTokens: 'Test: in test tokens, which have no value.',
  },
  de: {
    receipt: 'Quittung: {product}',
    refund: 'Erstattung: {product}',
    paid: 'Vielen Dank. Ihre Zahlung ist angekommen.',
    refunded: '{amount} gingen an die Wallet zurück, mit der Sie bezahlt haben.',
    refundedTransfer:
      '{amount} gingen an die Adresse zurück, an die Sie gezahlt haben. Öffnen Sie Ihren Kauf und geben Sie dort eine eigene Adresse an: Dorthin geht das Geld weiter.',
    seller: 'Verkäufer',
    discount: 'Rabatt',
    total: 'Gesamt',
    link: 'Ihr Kauf und seine Belege bleiben unter dieser Adresse:',
    attached: 'Der Beleg ist als PDF angehängt.',
    why: 'Sie erhalten diese E-Mail, weil diese Adresse bei der Zahlung angegeben wurde. Wenn Sie nicht bezahlt haben, ignorieren Sie sie.',
    test: 'Test: Es wurde kein Geld bewegt.',
    testTokens: 'Test: in Test-Token, die keinen Wert haben.',
  },
  fr: {
    receipt: 'Reçu : {product}',
    refund: 'Remboursement : {product}',
    paid: 'Merci. Votre paiement est arrivé.',
    refunded: '{amount} ont été renvoyés au portefeuille avec lequel vous avez payé.',
    refundedTransfer:
      '{amount} ont été renvoyés à l’adresse à laquelle vous aviez payé. Ouvrez votre achat et indiquez-y une adresse à vous : l’argent y sera envoyé.',
    seller: 'Vendeur',
    discount: 'Remise',
    total: 'Total',
    link: 'Votre achat et ses reçus restent à cette adresse :',
    attached: 'Le reçu est joint au format PDF.',
    why: 'Vous recevez cet e-mail car cette adresse a été saisie lors du paiement. Si vous n’avez pas payé, ignorez-le.',
    test: 'Test : aucun argent n’a été déplacé.',
    testTokens: 'Test : en jetons de test, sans valeur.',
  },
  es: {
    receipt: 'Recibo: {product}',
    refund: 'Reembolso: {product}',
    paid: 'Gracias. Tu pago ha llegado.',
    refunded: 'Se han devuelto {amount} a la cartera con la que pagaste.',
    refundedTransfer:
      'Se han devuelto {amount} a la dirección a la que pagaste. Abre tu compra e indica allí una dirección tuya: el dinero se enviará a ella.',
    seller: 'Vendedor',
    discount: 'Descuento',
    total: 'Total',
    link: 'Tu compra y sus recibos siguen en esta dirección:',
    attached: 'El recibo va adjunto en PDF.',
    why: 'Recibes este correo porque se indicó esta dirección al pagar. Si no has pagado, ignóralo.',
    test: 'Prueba: no se ha movido dinero.',
    testTokens: 'Prueba: en tokens de prueba, sin valor.',
  },
  pt: {
    receipt: 'Recibo: {product}',
    refund: 'Reembolso: {product}',
    paid: 'Obrigado. Seu pagamento chegou.',
    refunded: '{amount} voltaram para a carteira com que você pagou.',
    refundedTransfer:
      '{amount} voltaram para o endereço ao qual você pagou. Abra sua compra e informe ali um endereço seu: o dinheiro será enviado para ele.',
    seller: 'Vendedor',
    discount: 'Desconto',
    total: 'Total',
    link: 'Sua compra e seus recibos continuam neste endereço:',
    attached: 'O recibo está anexado em PDF.',
    why: 'Você recebe este e-mail porque este endereço foi informado no pagamento. Se você não pagou, ignore-o.',
    test: 'Teste: nenhum dinheiro foi movimentado.',
    testTokens: 'Teste: em tokens de teste, sem valor.',
  },
  it: {
    receipt: 'Ricevuta: {product}',
    refund: 'Rimborso: {product}',
    paid: 'Grazie. Il pagamento è arrivato.',
    refunded: '{amount} sono tornati al wallet con cui hai pagato.',
    refundedTransfer:
      '{amount} sono tornati all’indirizzo a cui hai pagato. Apri il tuo acquisto e inserisci lì un tuo indirizzo: il denaro vi sarà inviato.',
    seller: 'Venditore',
    discount: 'Sconto',
    total: 'Totale',
    link: 'Il tuo acquisto e le sue ricevute restano a questo indirizzo:',
    attached: 'La ricevuta è allegata in PDF.',
    why: 'Ricevi questa e-mail perché questo indirizzo è stato inserito al pagamento. Se non hai pagato, ignorala.',
    test: 'Test: nessun denaro è stato spostato.',
    testTokens: 'Test: in token di prova, senza valore.',
  },
  ja: {
    receipt: '領収書：{product}',
    refund: '返金：{product}',
    paid: 'ありがとうございます。お支払いが完了しました。',
    refunded: '{amount} がお支払い元のウォレットに返金されました。',
    refundedTransfer:
      '{amount} がお支払い先のアドレスに返金されました。ご購入のページを開き、ご自身のアドレスを入力してください。代金はそこへ送られます。',
    seller: '販売者',
    discount: '割引',
    total: '合計',
    link: 'ご購入内容と領収書は次のアドレスでいつでも確認できます。',
    attached: '領収書を PDF で添付しています。',
    why: 'お支払い時にこのアドレスが入力されたため、このメールをお送りしています。お支払いの覚えがない場合は無視してください。',
    test: 'テスト：資金は動いていません。',
    testTokens: 'テスト：価値のないテストトークンによるものです。',
  },
  zh: {
    receipt: '收据：{product}',
    refund: '退款：{product}',
    paid: '谢谢。您的付款已到账。',
    refunded: '{amount} 已退回您付款的钱包。',
    refundedTransfer: '{amount} 已退回您付款时转入的地址。请打开您的订单，填写您自己的地址，款项将转到该地址。',
    seller: '卖家',
    discount: '折扣',
    total: '合计',
    link: '您的购买记录和收据保留在此地址：',
    attached: '收据以 PDF 附件形式附上。',
    why: '您收到此邮件，是因为付款时填写了此地址。如果您没有付款，请忽略。',
    test: '测试：没有资金变动。',
    testTokens: '测试：使用没有价值的测试代币。',
  },
}
