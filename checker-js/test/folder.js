/** Where the golden certificates are. */
export const goldenFolder = new URL('../../tests/certificate/golden/', import.meta.url);
/** Golden certificates with rules that came later. */
export const laterFolder = new URL('../../tests/certificate/golden_later/', import.meta.url);
/** Golden certificates with the newest rules. */
export const newestFolder = new URL('../../tests/certificate/golden_newest/', import.meta.url);
/** Golden certificates with rules that came last. */
export const comingFolder = new URL('../../tests/certificate/golden_coming/', import.meta.url);
/** Golden certificates of scores that change no faster than a distance. */
export const steepFolder = new URL('../../tests/certificate/golden_steep/', import.meta.url);
