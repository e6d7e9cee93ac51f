import { uploadedIn } from '../../service/ui-kit/uploaded.ts'

const PAGES = 'https://pay.example/p/'
const FILE = 'chk_1/files/file_1?token=t&name=Invoice.pdf'

describe('The value of a field, which customers write', () => {
  it.each([`${PAGES}${FILE}`, `${PAGES}chk_1/files/file_1?name=Invoice.pdf&token=t`])(
    'is shown as the file that was uploaded here: %s',
    (link) => {
      expect(uploadedIn(link, PAGES)).toBe('Invoice.pdf')
    },
  )

  it.each([
    `https://evil.example/p/${FILE}`,
    `https://pay.example.evil.example/p/${FILE}`,
    `https://pay.example@evil.example/p/${FILE}`,
    `https://pay.example/gate/${FILE}`,
    `${PAGES}elsewhere/${FILE}`,
    `${PAGES}../gate/${FILE}`,
    `javascript:alert(1)//${FILE}`,
    `data:text/html,x/${FILE}`,
    `${PAGES}chk_1/files/file_1?name=Invoice.pdf`,
    'My invoice',
  ])('is shown as it is, and leads nowhere: %s', (text) => {
    expect(uploadedIn(text, PAGES)).toBeNull()
  })
})
