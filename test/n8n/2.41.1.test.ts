import { story } from './story.ts'

story('2.41.1')
