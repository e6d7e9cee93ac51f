import type { INodeProperties } from 'n8n-workflow'

const label: INodeProperties = {
  displayName: 'Label',
  name: 'label',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'e.g. Your website',
  description: 'The question above the field',
}

const type: INodeProperties = {
  displayName: 'Type',
  name: 'type',
  type: 'options',
  default: 'text',
  description: 'The type of the answer. The answer is checked before any money moves.',
  options: [
    { name: 'Checkbox', value: 'boolean' },
    { name: 'Date', value: 'date' },
    { name: 'Dropdown', value: 'select' },
    { name: 'Email', value: 'email' },
    { name: 'File', value: 'file' },
    { name: 'JSON', value: 'json' },
    { name: 'Link', value: 'url' },
    { name: 'Number', value: 'number' },
    { name: 'Text', value: 'text' },
    { name: 'Text, Several Lines', value: 'textarea' },
  ],
}

const choices: INodeProperties = {
  displayName: 'Choices',
  name: 'choices',
  type: 'fixedCollection',
  typeOptions: { multipleValues: true, sortable: true },
  placeholder: 'Add Choice',
  default: { values: [{ value: '' }] },
  required: true,
  description: 'The options that the customer can choose from',
  displayOptions: { show: { type: ['select'] } },
  options: [
    {
      displayName: 'Choice',
      name: 'values',
      values: [
        { displayName: 'Choice', name: 'value', type: 'string', default: '', placeholder: 'e.g. Monthly report' },
        {
          displayName: 'Price (USDC)',
          name: 'price',
          type: 'number',
          typeOptions: { minValue: 0.000001 },
          default: 1,
          description: 'What a run with this choice costs, where this dropdown decides the price',
          displayOptions: { show: { '/pricing': ['byField'] } },
        },
      ],
    },
  ],
}

const required: INodeProperties = {
  displayName: 'Required',
  name: 'required',
  type: 'boolean',
  default: false,
  description: 'Whether the customer has to answer',
}

const placeholder: INodeProperties = {
  displayName: 'Placeholder',
  name: 'placeholder',
  type: 'string',
  default: '',
  placeholder: 'e.g. https://example.com',
  description: 'An example inside the empty field',
  displayOptions: { hide: { type: ['boolean', 'date'] } },
}

const help: INodeProperties = {
  displayName: 'Help',
  name: 'help',
  type: 'string',
  default: '',
  placeholder: 'e.g. The address of your front page',
  description: 'A sentence below the field',
}

const name: INodeProperties = {
  displayName: 'Name in Output',
  name: 'name',
  type: 'string',
  default: '',
  placeholder: 'e.g. your_website',
  description:
    'The key of the answer in the workflow, under input. If empty, it is made from the label: “Your website” becomes your_website.',
}

const rules: INodeProperties = {
  displayName: 'Rules',
  name: 'rules',
  type: 'collection',
  placeholder: 'Add Rule',
  default: {},
  options: [
    {
      displayName: 'Default Value',
      name: 'default',
      type: 'string',
      default: '',
      description:
        'The value that is filled in at first, and used when the customer leaves the field empty. For a checkbox: true or false.',
    },
    {
      displayName: 'Maximum',
      name: 'max',
      type: 'number',
      default: 100,
      description: 'The largest number, or the most characters of a text',
    },
    {
      displayName: 'Minimum',
      name: 'min',
      type: 'number',
      default: 0,
      description: 'The smallest number, or the fewest characters of a text',
    },
    {
      displayName: 'Pattern',
      name: 'pattern',
      type: 'string',
      default: '',
      placeholder: 'e.g. [A-Z]{2}[0-9]{6}',
      description: 'A regular expression that the whole text has to match',
    },
    {
      displayName: 'Pattern Error Message',
      name: 'patternMessage',
      type: 'string',
      default: '',
      placeholder: 'e.g. must be an order number',
      description: 'What the customer reads when the text does not match the pattern',
    },
    {
      displayName: 'Show Only If: Field',
      name: 'showIfField',
      type: 'string',
      default: '',
      placeholder: 'e.g. Delivery',
      description: 'The label of a dropdown or checkbox above. This field is hidden unless it has the value below.',
    },
    {
      displayName: 'Show Only If: Value',
      name: 'showIfValue',
      type: 'string',
      default: '',
      placeholder: 'e.g. By mail',
      description: 'The choice that shows this field. For a checkbox: true or false.',
    },
  ],
}

/** The fields that the customer fills in before paying. The workflow finds them under `input`. */
export const customerFields: INodeProperties = {
  displayName: 'Customer Fields',
  name: 'customerFields',
  type: 'fixedCollection',
  typeOptions: {
    multipleValues: true,
    sortable: true,
    multipleValueButtonText: 'Add Field',
    fixedCollection: { itemTitle: '={{ $collection.item.value.label || "Field " + ($collection.item.index + 1) }}' },
  },
  placeholder: 'Add Field',
  default: {},
  description: 'What the customer fills in before paying. The workflow finds the answers under input.',
  options: [
    {
      displayName: 'Field',
      name: 'fields',
      // The order in which an author usually thinks of them.
      values: [label, type, choices, required, placeholder, help, name, rules],
    },
  ],
}
