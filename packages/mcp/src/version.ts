/** As in package.json; a test holds both together. */
export const VERSION = '0.1.0';
