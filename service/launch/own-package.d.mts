/** Installs what the folder's own package.json and lock file ask for, once per lock file. */
export function installOwnPackage(folder: string): Promise<void>
