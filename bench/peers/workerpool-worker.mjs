// workerpool: a function that echoes.
import workerpool from 'workerpool'

workerpool.worker({ echo: (n) => n })
