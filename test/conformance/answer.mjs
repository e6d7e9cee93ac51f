/** Answers the test that started this process: each message names one of these and carries what it is called with. */
export function answer(verbs) {
  process.on('message', ({ id, verb, input }) => {
    verbs[verb](input).then(
      (result) => process.send({ id, result: result ?? null }),
      (error) => process.send({ id, error: error.stack ?? String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
}
