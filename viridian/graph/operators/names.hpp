#pragma once
// This header names the operators that code outside their family file uses. Operators that no
// rule or kernel names need no line here. tests/graph/operator_row_test.cpp checks that each constant has
// the name of a row.
#include "viridian/graph/operator.hpp"

namespace viridian::graph::op {

// clang-format off
inline constexpr KnownOperator Abs{"Abs"};
inline constexpr KnownOperator Acos{"Acos"};
inline constexpr KnownOperator Acosh{"Acosh"};
inline constexpr KnownOperator Add{"Add"};
inline constexpr KnownOperator And{"And"};
inline constexpr KnownOperator Asin{"Asin"};
inline constexpr KnownOperator Asinh{"Asinh"};
inline constexpr KnownOperator Atan{"Atan"};
inline constexpr KnownOperator Atanh{"Atanh"};
inline constexpr KnownOperator AveragePool{"AveragePool"};
inline constexpr KnownOperator BatchNormalization{"BatchNormalization"};
inline constexpr KnownOperator BitShift{"BitShift"};
inline constexpr KnownOperator BitwiseAnd{"BitwiseAnd"};
inline constexpr KnownOperator BitwiseNot{"BitwiseNot"};
inline constexpr KnownOperator BitwiseOr{"BitwiseOr"};
inline constexpr KnownOperator BitwiseXor{"BitwiseXor"};
inline constexpr KnownOperator Cast{"Cast"};
inline constexpr KnownOperator CastLike{"CastLike"};
inline constexpr KnownOperator Ceil{"Ceil"};
inline constexpr KnownOperator Celu{"Celu"};
inline constexpr KnownOperator CenterCropPad{"CenterCropPad"};
inline constexpr KnownOperator Clip{"Clip"};
inline constexpr KnownOperator Compress{"Compress"};
inline constexpr KnownOperator Concat{"Concat"};
inline constexpr KnownOperator Constant{"Constant"};
inline constexpr KnownOperator Conv{"Conv"};
inline constexpr KnownOperator ConvTranspose{"ConvTranspose"};
inline constexpr KnownOperator Cos{"Cos"};
inline constexpr KnownOperator Cosh{"Cosh"};
inline constexpr KnownOperator DepthToSpace{"DepthToSpace"};
inline constexpr KnownOperator DequantizeLinear{"DequantizeLinear"};
inline constexpr KnownOperator Div{"Div"};
inline constexpr KnownOperator Dropout{"Dropout"};
inline constexpr KnownOperator Einsum{"Einsum"};
inline constexpr KnownOperator Elu{"Elu"};
inline constexpr KnownOperator Equal{"Equal"};
inline constexpr KnownOperator Erf{"Erf"};
inline constexpr KnownOperator Exp{"Exp"};
inline constexpr KnownOperator Expand{"Expand"};
inline constexpr KnownOperator Flatten{"Flatten"};
inline constexpr KnownOperator Floor{"Floor"};
inline constexpr KnownOperator GRU{"GRU"};
inline constexpr KnownOperator Gather{"Gather"};
inline constexpr KnownOperator GatherElements{"GatherElements"};
inline constexpr KnownOperator GatherND{"GatherND"};
inline constexpr KnownOperator Gelu{"Gelu"};
inline constexpr KnownOperator Gemm{"Gemm"};
inline constexpr KnownOperator GlobalAveragePool{"GlobalAveragePool"};
inline constexpr KnownOperator GlobalLpPool{"GlobalLpPool"};
inline constexpr KnownOperator GlobalMaxPool{"GlobalMaxPool"};
inline constexpr KnownOperator Greater{"Greater"};
inline constexpr KnownOperator GreaterOrEqual{"GreaterOrEqual"};
inline constexpr KnownOperator GridSample{"GridSample"};
inline constexpr KnownOperator GroupNormalization{"GroupNormalization"};
inline constexpr KnownOperator HardSigmoid{"HardSigmoid"};
inline constexpr KnownOperator HardSwish{"HardSwish"};
inline constexpr KnownOperator Identity{"Identity"};
inline constexpr KnownOperator If{"If"};
inline constexpr KnownOperator InstanceNormalization{"InstanceNormalization"};
inline constexpr KnownOperator IsInf{"IsInf"};
inline constexpr KnownOperator IsNaN{"IsNaN"};
inline constexpr KnownOperator LRN{"LRN"};
inline constexpr KnownOperator LSTM{"LSTM"};
inline constexpr KnownOperator LayerNormalization{"LayerNormalization"};
inline constexpr KnownOperator LeakyRelu{"LeakyRelu"};
inline constexpr KnownOperator Less{"Less"};
inline constexpr KnownOperator LessOrEqual{"LessOrEqual"};
inline constexpr KnownOperator Log{"Log"};
inline constexpr KnownOperator LogSoftmax{"LogSoftmax"};
inline constexpr KnownOperator Loop{"Loop"};
inline constexpr KnownOperator LpNormalization{"LpNormalization"};
inline constexpr KnownOperator LpPool{"LpPool"};
inline constexpr KnownOperator MatMul{"MatMul"};
inline constexpr KnownOperator Max{"Max"};
inline constexpr KnownOperator MaxPool{"MaxPool"};
inline constexpr KnownOperator Mean{"Mean"};
inline constexpr KnownOperator MeanVarianceNormalization{"MeanVarianceNormalization"};
inline constexpr KnownOperator Min{"Min"};
inline constexpr KnownOperator Mish{"Mish"};
inline constexpr KnownOperator Mod{"Mod"};
inline constexpr KnownOperator Mul{"Mul"};
inline constexpr KnownOperator Neg{"Neg"};
inline constexpr KnownOperator NegativeLogLikelihoodLoss{"NegativeLogLikelihoodLoss"};
inline constexpr KnownOperator Not{"Not"};
inline constexpr KnownOperator Or{"Or"};
inline constexpr KnownOperator PRelu{"PRelu"};
inline constexpr KnownOperator Pad{"Pad"};
inline constexpr KnownOperator Pow{"Pow"};
inline constexpr KnownOperator QuantizeLinear{"QuantizeLinear"};
inline constexpr KnownOperator RMSNormalization{"RMSNormalization"};
inline constexpr KnownOperator RNN{"RNN"};
inline constexpr KnownOperator Reciprocal{"Reciprocal"};
inline constexpr KnownOperator ReduceL1{"ReduceL1"};
inline constexpr KnownOperator ReduceL2{"ReduceL2"};
inline constexpr KnownOperator ReduceLogSum{"ReduceLogSum"};
inline constexpr KnownOperator ReduceMax{"ReduceMax"};
inline constexpr KnownOperator ReduceMean{"ReduceMean"};
inline constexpr KnownOperator ReduceMin{"ReduceMin"};
inline constexpr KnownOperator ReduceProd{"ReduceProd"};
inline constexpr KnownOperator ReduceSum{"ReduceSum"};
inline constexpr KnownOperator ReduceSumSquare{"ReduceSumSquare"};
inline constexpr KnownOperator Relu{"Relu"};
inline constexpr KnownOperator Reshape{"Reshape"};
inline constexpr KnownOperator Resize{"Resize"};
inline constexpr KnownOperator ReverseSequence{"ReverseSequence"};
inline constexpr KnownOperator Round{"Round"};
inline constexpr KnownOperator Scan{"Scan"};
inline constexpr KnownOperator ScatterElements{"ScatterElements"};
inline constexpr KnownOperator Selu{"Selu"};
inline constexpr KnownOperator Shape{"Shape"};
inline constexpr KnownOperator Shrink{"Shrink"};
inline constexpr KnownOperator Sigmoid{"Sigmoid"};
inline constexpr KnownOperator Sign{"Sign"};
inline constexpr KnownOperator Sin{"Sin"};
inline constexpr KnownOperator Sinh{"Sinh"};
inline constexpr KnownOperator Size{"Size"};
inline constexpr KnownOperator Slice{"Slice"};
inline constexpr KnownOperator Softmax{"Softmax"};
inline constexpr KnownOperator SoftmaxCrossEntropyLoss{"SoftmaxCrossEntropyLoss"};
inline constexpr KnownOperator Softplus{"Softplus"};
inline constexpr KnownOperator Softsign{"Softsign"};
inline constexpr KnownOperator SpaceToDepth{"SpaceToDepth"};
inline constexpr KnownOperator Split{"Split"};
inline constexpr KnownOperator Sqrt{"Sqrt"};
inline constexpr KnownOperator Squeeze{"Squeeze"};
inline constexpr KnownOperator Sub{"Sub"};
inline constexpr KnownOperator Sum{"Sum"};
inline constexpr KnownOperator Swish{"Swish"};
inline constexpr KnownOperator Tan{"Tan"};
inline constexpr KnownOperator Tanh{"Tanh"};
inline constexpr KnownOperator ThresholdedRelu{"ThresholdedRelu"};
inline constexpr KnownOperator Tile{"Tile"};
inline constexpr KnownOperator Transpose{"Transpose"};
inline constexpr KnownOperator Trilu{"Trilu"};
inline constexpr KnownOperator Unsqueeze{"Unsqueeze"};
inline constexpr KnownOperator Where{"Where"};
inline constexpr KnownOperator Xor{"Xor"};
// clang-format on

// Operators of our own domain. The body of each node says in standard operators what it means.
// clang-format off
inline constexpr KnownOperator AveragePoolGrad{"AveragePoolGrad", "viridian"};
inline constexpr KnownOperator BatchNormalizationGrad{"BatchNormalizationGrad", "viridian"};
inline constexpr KnownOperator BatchNormalizationTraining{"BatchNormalizationTraining", "viridian"};
inline constexpr KnownOperator ConvGradInput{"ConvGradInput", "viridian"};
inline constexpr KnownOperator ConvGradWeight{"ConvGradWeight", "viridian"};
inline constexpr KnownOperator GroupNormalizationGrad{"GroupNormalizationGrad", "viridian"};
inline constexpr KnownOperator LRNGrad{"LRNGrad", "viridian"};
inline constexpr KnownOperator LayerNormalizationGradInput{"LayerNormalizationGradInput", "viridian"};
inline constexpr KnownOperator LayerNormalizationGradScale{"LayerNormalizationGradScale", "viridian"};
inline constexpr KnownOperator LogSoftmaxGrad{"LogSoftmaxGrad", "viridian"};
inline constexpr KnownOperator MaxPoolGrad{"MaxPoolGrad", "viridian"};
inline constexpr KnownOperator RMSNormalizationGrad{"RMSNormalizationGrad", "viridian"};
inline constexpr KnownOperator SoftmaxGrad{"SoftmaxGrad", "viridian"};
// clang-format on

}  // namespace viridian::graph::op
