/** What a dry run answers with in place of the deed. */
export interface Forecast {
  readonly dryRun: true
  /** What it would do now, in words; by the time it is asked for in earnest, that may be another. */
  readonly would: string
}

export const forecast = (would: string): Forecast => ({ dryRun: true, would })
