/** Where the golden certificates are. */
export const goldenFolder = new URL('../../tests/certificate/golden/', import.meta.url);
