import type { Checkout } from '../model.ts'

/** In plain text, to whoever sells. */
export function pausedMail({ id, product, callbackUrl }: Checkout): { subject: string; text: string } {
  return {
    subject: `The checkout "${product.name.replace(/\s+/g, ' ')}" is paused`,
    text: `The workflow behind the checkout ${id} is not there: ${callbackUrl} has answered 404 again and again.

Customers are told that it is not available, and nothing is charged. It sells again by itself once the workflow
answers: activate the workflow, or expire the checkout if it has had its time.
`,
  }
}
