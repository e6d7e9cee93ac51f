const { dest, parallel, src } = require('gulp')

// tsc copies no pictures; n8n looks for an icon beside the compiled file that names it.
// `encoding: false` keeps gulp 5 from reading a PNG as text and ruining it.
const icons = (folder) => () => src(`${folder}/**/*.{png,svg}`, { encoding: false }).pipe(dest(`dist/${folder}`))

exports['build:icons'] = parallel(icons('nodes'), icons('credentials'))
