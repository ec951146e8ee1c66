#pragma once
// Brings the names of viridian/meter/curve that every part of this room uses into its namespace: exact
// energy and curves of power.
#include "viridian/meter/curve/power_curve.hpp"

namespace viridian::account {

using meter::curve_of;
using meter::EnergyIntegral;
using meter::Exact;
using meter::exact_joules;
using meter::exact_microjoules;
using meter::Int128;
using meter::joules;
using meter::microjoules;
using meter::Nanoseconds;
using meter::PowerCurve;
using meter::PowerSegment;
using meter::SegmentRate;
using meter::UInt128;

}  // namespace viridian::account
