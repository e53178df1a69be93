// threads.js: a function that echoes.
import { expose } from 'threads/worker'

expose({ echo: (n) => n })
