import { usdc } from '../../kit/money.ts'
import { field, tool, type Seed } from './builders.ts'

export function tools(demo: string): Seed[] {
  return [
    tool({
      featured: true,
      slug: 'text-statistics',
      name: 'Text Statistics',
      description: 'Counts words and sentences, and estimates the reading time of a text',
      tags: ['text'],
      inputs: [field({ name: 'text', label: 'Text', type: 'textarea' })],
      config: {
        apiEndpoint: `${demo}/tools/text-statistics`,
        responseTransform:
          '"**" & $string(words) & "** words in **" & $string(sentences) & "** sentences, read in about " & $string(readingSeconds) & " s. Most used: " & $join(topWords.(word & " (" & $string(count) & ")"), ", ")',
        basePrice: usdc(5_000n),
        examples: [
          {
            title: 'Two short sentences',
            inputs: { text: 'The coin goes in. The coin comes out.' },
            output: '**8** words in **2** sentences, read in about 3 s. Most used: coin (2), comes (1), goes (1)',
            model: null,
          },
        ],
      },
    }),
    tool({
      slug: 'unit-converter',
      name: 'Unit Converter',
      description: 'Converts lengths, weights, volumes, times and temperatures',
      tags: ['maths'],
      pricing: { model: 'free', amount: null },
      inputs: [
        field({ name: 'value', label: 'Value', type: 'number' }),
        field({ name: 'from', label: 'From', placeholder: 'mi' }),
        field({ name: 'to', label: 'To', placeholder: 'km' }),
      ],
      outputs: { type: 'text' },
      config: {
        apiEndpoint: `${demo}/tools/unit-converter`,
        apiMethod: 'GET',
        responseTransform: '$string(value) & " " & from & " = " & $string(result) & " " & to',
        examples: [
          {
            title: 'A marathon',
            inputs: { value: 26.2, from: 'mi', to: 'km' },
            output: '26.2 mi = 42.1648128 km',
            model: null,
          },
        ],
      },
    }),
    tool({
      slug: 'json-to-csv',
      name: 'JSON to CSV',
      description: 'Turns a list of objects into a table for a spreadsheet',
      tags: ['data'],
      inputs: [field({ name: 'rows', label: 'Rows', type: 'json', placeholder: '[{"name": "Ada", "born": 1815}]' })],
      outputs: { type: 'text' },
      config: {
        apiEndpoint: `${demo}/tools/json-to-csv`,
        authType: 'bearer',
        authConfig: { headerName: null, secrets: { texts: { token: 'demo-token' }, before: null } },
        responseTransform: 'csv',
        basePrice: usdc(10_000n),
      },
    }),
    tool({
      slug: 'loan-calculator',
      name: 'Loan Calculator',
      description: 'Calculates what a loan costs each month and in total',
      tags: ['finance', 'maths'],
      inputs: [
        field({ name: 'principal', label: 'Amount', type: 'number', min: 1 }),
        field({ name: 'ratePercent', label: 'Interest a year, percent', type: 'number', min: 0, max: 100 }),
        field({ name: 'years', label: 'Years', type: 'number', min: 1, max: 50 }),
      ],
      outputs: { type: 'json' },
      config: {
        apiEndpoint: `${demo}/tools/loan-calculator`,
        authType: 'api_key',
        authConfig: { headerName: 'X-API-Key', secrets: { texts: { apiKey: 'demo-key' }, before: null } },
        rateLimitPerMinute: 60,
        basePrice: usdc(10_000n),
      },
    }),
    tool({
      slug: 'colour-palette',
      name: 'Colour Palette',
      description: 'Lighter, darker and opposite shades of a colour',
      tags: ['design'],
      inputs: [field({ name: 'colour', label: 'Colour', placeholder: '#1e90ff', pattern: '#?[0-9a-fA-F]{6}' })],
      outputs: { type: 'json' },
      config: {
        apiEndpoint: `${demo}/tools/colour-palette`,
        requestTransform: '{"colour": $lowercase(colour)}',
        basePrice: usdc(5_000n),
      },
    }),
  ]
}
