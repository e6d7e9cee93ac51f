/** What the demo creators answer with a 400. */
export class DemoFault extends Error {}
