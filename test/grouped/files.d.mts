export declare const GROUPS: number
export declare function groupedFiles(group?: number): string[]
