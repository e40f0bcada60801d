/** The events of a stream by their types: `Data` has the data of each type. */
export type EventOf<Data> = { [Type in keyof Data]: { type: Type; data: Data[Type] } }[keyof Data];
