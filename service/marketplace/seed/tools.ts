import { usdc } from '../../kit/money.ts'
import { field, page, tool, type Seed } from './parts.ts'

export function tools(demo: string): Seed[] {
  return [
    {
      creator: 'caliper',
      featured: true,
      draft: {
        ...page(
          'text-statistics',
          'Text Statistics',
          'Counts words and sentences, and says how long a text takes to read',
          ['text'],
        ),
        type: 'tool',
        inputs: [field({ name: 'text', label: 'Text', type: 'textarea' })],
        toolConfig: tool({
          apiEndpoint: `${demo}/tools/text-statistics`,
          responseTransform:
            '"**" & $string(words) & "** words in **" & $string(sentences) & "** sentences, read in about " & $string(readingSeconds) & " s. Most used: " & $join(topWords.(word & " (" & $string(count) & ")"), ", ")',
          basePrice: usdc(5_000n),
        }),
      },
    },
    {
      creator: 'caliper',
      featured: false,
      draft: {
        ...page('unit-converter', 'Unit Converter', 'Converts lengths, weights, volumes, times and temperatures', [
          'maths',
        ]),
        type: 'tool',
        pricing: { model: 'free', amount: null },
        inputs: [
          field({ name: 'value', label: 'Value', type: 'number' }),
          field({ name: 'from', label: 'From', placeholder: 'mi' }),
          field({ name: 'to', label: 'To', placeholder: 'km' }),
        ],
        outputs: { type: 'text' },
        toolConfig: tool({
          apiEndpoint: `${demo}/tools/unit-converter`,
          apiMethod: 'GET',
          responseTransform: '$string(value) & " " & from & " = " & $string(result) & " " & to',
        }),
      },
    },
    {
      creator: 'caliper',
      featured: false,
      draft: {
        ...page('json-to-csv', 'JSON to CSV', 'Turns a list of objects into a table for a spreadsheet', ['data']),
        type: 'tool',
        inputs: [field({ name: 'rows', label: 'Rows', type: 'json', placeholder: '[{"name": "Ada", "born": 1815}]' })],
        outputs: { type: 'text' },
        toolConfig: tool({
          apiEndpoint: `${demo}/tools/json-to-csv`,
          authType: 'bearer',
          authConfig: { headerName: null, secrets: { given: { token: 'demo-token' }, before: null } },
          responseTransform: 'csv',
          basePrice: usdc(10_000n),
        }),
      },
    },
    {
      creator: 'caliper',
      featured: false,
      draft: {
        ...page('loan-calculator', 'Loan Calculator', 'What a loan costs a month, and in all', ['finance', 'maths']),
        type: 'tool',
        inputs: [
          field({ name: 'principal', label: 'Amount', type: 'number', min: 1 }),
          field({ name: 'ratePercent', label: 'Interest a year, percent', type: 'number', min: 0, max: 100 }),
          field({ name: 'years', label: 'Years', type: 'number', min: 1, max: 50 }),
        ],
        outputs: { type: 'json' },
        toolConfig: tool({
          apiEndpoint: `${demo}/tools/loan-calculator`,
          authType: 'api_key',
          authConfig: { headerName: 'X-API-Key', secrets: { given: { apiKey: 'demo-key' }, before: null } },
          rateLimitPerMinute: 60,
          basePrice: usdc(10_000n),
        }),
      },
    },
    {
      creator: 'caliper',
      featured: false,
      draft: {
        ...page('colour-palette', 'Colour Palette', 'Lighter, darker and opposite shades of a colour', ['design']),
        type: 'tool',
        inputs: [field({ name: 'colour', label: 'Colour', placeholder: '#1e90ff', pattern: '#?[0-9a-fA-F]{6}' })],
        outputs: { type: 'json' },
        toolConfig: tool({
          apiEndpoint: `${demo}/tools/colour-palette`,
          requestTransform: '{"colour": $lowercase(colour)}',
          basePrice: usdc(5_000n),
        }),
      },
    },
  ]
}
