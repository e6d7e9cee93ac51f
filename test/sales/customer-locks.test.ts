import { startReceiver, type Receiver } from '../deliveries/receiver.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { addSale, refund, rich, work } from '../refunds/sales.ts'

/** Remembers which customers' rows each transaction wrote. */
const WATCH = `
CREATE TABLE customer_write (transaction bigint NOT NULL, customer text NOT NULL, PRIMARY KEY (transaction, customer));
CREATE FUNCTION remember_customer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE row sale_customer := coalesce(NEW, OLD);
BEGIN
  INSERT INTO customer_write VALUES (txid_current(), row.user_id || ' ' || row.environment || ' ' || row.key) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER remember_customer AFTER INSERT OR UPDATE OR DELETE ON sale_customer FOR EACH ROW EXECUTE FUNCTION remember_customer();`

const SEVERAL = 'SELECT transaction FROM customer_write GROUP BY 1 HAVING count(*) > 1'

/**
 * Two transactions that lock the rows of two customers in different orders would wait for each other. Of each statement
 * test/database/rows holds that it names one sale.
 */
describe('a transaction writes one customer', () => {
  let service: TestService
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    service = await testService({ RATE_API_PER_MINUTE: '0', RATE_PAY_PER_MINUTE: '0', ALLOW_HOSTS: '127.0.0.1' })
    await service.database.pool.query(WATCH)
  })
  afterAll(async () => {
    await service.close()
    await receiver.close()
  })

  const several = () => service.database.statements.run(SEVERAL, [])

  test('in payments, refunds, their sweepers and notices of many customers at once', async () => {
    const seller: TestPerson = await rich(service, 100)
    const { checkout } = (
      await seller.call('POST', '/v1/checkouts', {
        body: {
          ...{
            callbackUrl: receiver.url,
            product: { name: 'Audit' },
            price: 1,
            network: 'base-sepolia',
            testMode: true,
          },
          lifetime: 'persistent',
        },
      })
    ).body
    const pay = (customer: number, outcome: string) =>
      service.call('POST', `/p/${String(checkout.id)}/pay`, {
        body: { input: {}, simulate: true, outcome, email: `customer${String(customer)}@example.com` },
      })
    const paid = await Promise.all(Array.from({ length: 24 }, (_, at) => pay(at % 6, at % 4 === 0 ? 'slow' : 'paid')))
    expect(paid.filter(({ status }) => status > 202)).toEqual([])
    service.clock.forward(60_000)
    await service.sales.sales(service.clock.now())
    const owed = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        addSale(service, seller, {
          details: { receipt: { email: `refund${String(at)}@example.com`, language: 'en' } },
        }),
      ),
    )
    const refunds = await Promise.all(owed.map((id) => refund(seller, id, {})))
    expect(refunds.filter(({ status }) => status >= 300)).toEqual([])
    service.clock.forward(60_000)
    await work(service)
    const [written] = await service.database.statements.run<{ customers: bigint }>(
      'SELECT count(DISTINCT customer) AS customers FROM customer_write',
      [],
    )
    expect(Number(written?.customers)).toBe(12)
    expect(await several()).toEqual([])
  })

  test('and one that writes two is detected', async () => {
    const seller = await service.person()
    for (const at of [1, 2])
      await addSale(service, seller, {
        details: { receipt: { email: `two${String(at)}@example.com`, language: 'en' } },
      })
    await service.database.statements.run('UPDATE sale SET amount = amount + 1 WHERE user_id = $1', [
      seller.caller.user.id,
    ])
    expect(await several()).toHaveLength(1)
  })
})
