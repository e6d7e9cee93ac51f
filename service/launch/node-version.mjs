// Imported first and alone: an older Node could not even parse the other files.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write('Coinslot needs Node 20.19 or newer, and this is Node ' + process.versions.node + '.\n')
  process.exit(1)
}
