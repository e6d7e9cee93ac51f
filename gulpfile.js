const { dest, parallel, src } = require('gulp')

// tsc copies no pictures; n8n looks for an icon, and for what a node is found by, beside the compiled file.
// `encoding: false` keeps gulp 5 from reading a PNG as text and ruining it.
const besides = (folder) => () =>
  src(`${folder}/**/*.{png,svg,node.json}`, { encoding: false }).pipe(dest(`dist/${folder}`))

exports['build:icons'] = parallel(besides('nodes'), besides('credentials'))
