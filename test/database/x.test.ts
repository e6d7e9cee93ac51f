import { testDatabase } from '../harness/database.ts'
test('x', async () => {
  const t = performance.now()
  const d = await testDatabase()
  console.log(performance.now() - t)
  const { rows } = await d.pool.query('select count(*) c from ledger_account')
  expect(rows).toEqual([{ c: 160n }])
  expect(
    await d.transaction(async (tx) => (await tx.run<{ c: bigint }>('select count(*) c from ledger_account', []))[0]),
  ).toEqual({ c: 160n })
  await d.close()
  console.log(performance.now() - t)
})
