import { withReason } from '../../service/marketplace/rules/reason.ts'

describe("the reason of a creator's server, as its buyer reads it", () => {
  const read = (text: string, inputs: unknown = {}) =>
    withReason('It failed.', text, {
      secrets: [],
      addresses: ['https://api.acme.example/v1/secret%20hook?tenant=blue&site=a%20b'],
      inputs,
    }).sentence

  test.each([
    ['see https://other.example/a?b=c for more', 'see [hidden] for more'],
    [String.raw`{"url":"https:\/\/api.acme.example\/v1"}`, '{"url":"[hidden]"}'],
    ['db.acme.example refused', '[hidden] refused'],
    ['write to root@acme.example', 'write to [hidden]'],
    ['no route /v1/secret%20hook/42', 'no route [hidden]'],
    ['tenant=blue is unknown', '[hidden] is unknown'],
    ['in say=hello&tenant=blue&x=1', 'in say=hello&[hidden]'],
    ['no route ?say=x&site=a+b', 'no route ?say=x&[hidden]'],
    ['the query site=a b is wrong', 'the query [hidden] is wrong'],
    ['connect ECONNREFUSED redis:6379', 'connect ECONNREFUSED [hidden]'],
    ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED [hidden]'],
    ['listen on [fe80::1]:80', 'listen on [hidden]'],
    ['localhost:3000 is down', '[hidden] is down'],
    ['at run (/srv/app/index.js:10:4)', 'at run ([hidden])'],
  ])('%s: without addresses', (text, shown) => {
    expect(read(text)).toBe(`It failed: ${shown}`)
  })

  test.each([
    'inputs.city is missing',
    'use km/h and/or mph on 2030/01/31 at 12:30:45',
    '/name must be string',
    'std::vector has 3.5 of 10.25',
    'the ratio is 3:2, see item 4.',
  ])('%s: stays', (text) => {
    expect(read(text)).toBe(`It failed: ${text}`)
    expect(withReason('It failed.', text, { secrets: [], addresses: [], inputs: {} })).not.toHaveProperty('forCreator')
  })

  test("the buyer's own address stays, the creator's does not", () => {
    const text = 'https://mine.example/page did not load from api.acme.example'
    expect(read(text, { site: 'https://mine.example/page' })).toBe(
      'It failed: https://mine.example/page did not load from [hidden]',
    )
  })
})
