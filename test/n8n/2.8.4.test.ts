import { story } from './story.ts'

story('2.8.4')
