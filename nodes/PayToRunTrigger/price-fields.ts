import type { INodeProperties } from 'n8n-workflow'

/** How the price comes about. */
export const priceFields: INodeProperties[] = [
  {
    displayName: 'Pricing',
    name: 'pricing',
    type: 'options',
    default: 'fixed',
    description: 'What decides the price',
    options: [
      { name: 'One Price', value: 'fixed', description: 'Every run costs the same' },
      { name: 'Price per Unit', value: 'quantity', description: 'The customer chooses how many' },
      { name: 'The Customer Decides', value: 'choose', description: 'The customer enters the amount' },
      { name: 'By a Dropdown', value: 'byField', description: 'Each choice of a dropdown has its own price' },
    ],
  },
  {
    displayName: 'Price (USDC)',
    name: 'price',
    type: 'number',
    typeOptions: { minValue: 0.000001 },
    default: 1,
    required: true,
    description: 'What one run or one unit costs, in USDC with at most six decimals',
    displayOptions: { show: { pricing: ['fixed', 'quantity'] } },
  },
  {
    displayName: 'Minimum Quantity',
    name: 'quantityMin',
    type: 'number',
    typeOptions: { minValue: 1, numberPrecision: 0 },
    default: 1,
    description:
      'The fewest units that a customer can buy. The workflow finds the number under metadata.lines.quantity.',
    displayOptions: { show: { pricing: ['quantity'] } },
  },
  {
    displayName: 'Maximum Quantity',
    name: 'quantityMax',
    type: 'number',
    typeOptions: { minValue: 1, numberPrecision: 0 },
    default: 10,
    description: 'The most units that a customer can buy at once',
    displayOptions: { show: { pricing: ['quantity'] } },
  },
  {
    displayName: 'Minimum Amount (USDC)',
    name: 'amountMin',
    type: 'number',
    typeOptions: { minValue: 0.000001 },
    default: 1,
    required: true,
    description: 'The least that a customer can pay',
    displayOptions: { show: { pricing: ['choose'] } },
  },
  {
    displayName: 'Suggested Amount (USDC)',
    name: 'amountSuggested',
    type: 'number',
    typeOptions: { minValue: 0 },
    default: 0,
    description: 'The amount that the form starts with. 0 for the minimum amount.',
    displayOptions: { show: { pricing: ['choose'] } },
  },
  {
    displayName: 'Maximum Amount (USDC)',
    name: 'amountMax',
    type: 'number',
    typeOptions: { minValue: 0 },
    default: 0,
    description: 'The most that a customer can pay. 0 for no maximum.',
    displayOptions: { show: { pricing: ['choose'] } },
  },
  {
    displayName: 'Add a customer field of type <b>Dropdown</b>, and enter the price of each of its choices.',
    name: 'dropdownNotice',
    type: 'notice',
    default: '',
    displayOptions: { show: { pricing: ['byField'] } },
  },
  {
    displayName: 'Dropdown',
    name: 'priceField',
    type: 'string',
    default: '',
    placeholder: 'e.g. Size of the report',
    description: 'The label of the dropdown that decides the price. If empty, the first dropdown of the form decides.',
    displayOptions: { show: { pricing: ['byField'] } },
  },
  {
    displayName: 'An Output for Each Choice',
    name: 'outputPerChoice',
    type: 'boolean',
    default: false,
    description:
      'Whether each choice of the dropdown has an output of its own, so that one trigger sells several products',
    displayOptions: { show: { pricing: ['byField'] } },
  },
]

/** In the order in which an author usually thinks of them. */
const planFields: INodeProperties[] = [
  {
    displayName: 'Name',
    name: 'name',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. Ten reports',
    description: 'What the customer reads. Renaming a plan makes it another plan; passes that were sold stay valid.',
  },
  {
    displayName: 'Kind',
    name: 'kind',
    type: 'options',
    default: 'runs',
    options: [
      { name: 'A Number of Runs', value: 'runs' },
      { name: 'A Period', value: 'period' },
    ],
  },
  {
    displayName: 'Price (USDC)',
    name: 'price',
    type: 'number',
    typeOptions: { minValue: 0.000001 },
    default: 5,
    required: true,
    description: 'What the whole plan costs',
  },
  {
    displayName: 'Days',
    name: 'days',
    type: 'number',
    typeOptions: { minValue: 1, maxValue: 3660, numberPrecision: 0 },
    default: 30,
    description: 'How long the period is',
    displayOptions: { show: { kind: ['period'] } },
  },
  {
    displayName: 'Runs',
    name: 'runs',
    type: 'number',
    typeOptions: { minValue: 0, numberPrecision: 0 },
    default: 10,
    description: 'How many runs the plan is for. In a period, 0 sets no limit.',
  },
]

/** What customers can buy besides a single run. */
export const plans: INodeProperties = {
  displayName: 'Plans',
  name: 'plans',
  type: 'fixedCollection',
  typeOptions: {
    multipleValues: true,
    sortable: true,
    multipleValueButtonText: 'Add Plan',
    fixedCollection: { itemTitle: '={{ $collection.item.value.name || "Plan " + ($collection.item.index + 1) }}' },
  },
  placeholder: 'Add Plan',
  default: {},
  description: 'What customers can pay for ahead: a number of runs, or a period. Nothing is ever charged by itself.',
  options: [
    {
      displayName: 'Plan',
      name: 'plans',
      values: planFields,
    },
  ],
}
